/** JSON-RPC 1.0 as all daemons of Open vSwitch speak it: `@podwire/unixctl` builds on it too. */
export { OvsdbError } from '../errors.js';
export { Connection, type ConnectionOptions, type RequestOptions } from './connection.js';
export { openStream } from './open-stream.js';
