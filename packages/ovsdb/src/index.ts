export {
  Cache,
  type CachedRow,
  type CacheIndexes,
  type MonitorRequest,
  type UntilOptions,
} from './cache/cache.js';
export type { IndexFunction, IndexKey } from './cache/indexes.js';
export type { CacheEvent, Cause } from './cache/monitor.js';
export type { Change } from './cache/replica.js';
export { OvsdbClient } from './client/client.js';
export type { CallOptions, ClientState } from './client/link.js';
export type { ClientOptions } from './client/options.js';
export type { Row } from './decode.js';
export {
  type FailedOperation,
  OvsdbError,
  type OvsdbErrorCode,
  ProtocolError,
  RefusedError,
  TransactionError,
} from './errors.js';
export { generateTypes } from './generate/types.js';
export { parseSchema } from './parse-schema.js';
export { type Endpoint, parseEndpoint } from './rpc/endpoint.js';
export { defaultLimits, type Limits } from './rpc/limits.js';
export type { MessageLimits } from './rpc/json-stream.js';
export type { TlsOptions } from './rpc/open-stream.js';
export {
  type AtomicType,
  type BaseType,
  type ColumnSchema,
  type ColumnType,
  type DatabaseSchema,
  type TableSchema,
} from './schema.js';
export type {
  Abort,
  AnyDatabase,
  Comment,
  Condition,
  DatabaseTypes,
  Delete,
  Insert,
  Mutate,
  Mutation,
  Operation,
  ResultOf,
  Results,
  Select,
  Update,
  Wait,
} from './transaction/types.js';
export type { Atom, NamedUuid, Value, ValueInput } from './values.js';
