export { decodeAtom, decodeRow, decodeValue, isUuid, type Row } from './decode.js';
export { encodeAtom, encodeValue } from './encode.js';
export { OvsdbError, type OvsdbErrorCode, ProtocolError } from './errors.js';
export { JsonStream, type MessageLimits } from './json-stream.js';
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
