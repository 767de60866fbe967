export { decodeAtom, decodeRow, decodeValue, isUuid, type Row } from './decode.js';
export { encodeAtom, encodeValue } from './encode.js';
export { OvsdbError, type OvsdbErrorCode, ProtocolError, RefusedError } from './errors.js';
export { Connection, type ConnectionOptions, type RequestOptions } from './rpc/connection.js';
export { type Endpoint, parseEndpoint } from './rpc/endpoint.js';
export { JsonStream, type MessageLimits } from './rpc/json-stream.js';
export { defaultLimits, type Limits } from './rpc/limits.js';
export { openStream, type TlsOptions } from './rpc/open-stream.js';
export { parseSchema } from './parse-schema.js';
export {
  type AtomicType,
  type BaseType,
  type ColumnSchema,
  type ColumnType,
  type DatabaseSchema,
  findColumn,
  type Shape,
  shapeOf,
  type TableSchema,
} from './schema.js';
export {
  type Atom,
  areSameValues,
  type Json,
  type NamedUuid,
  type Value,
  type ValueInput,
} from './values.js';
