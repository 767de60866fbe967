export type { NetlinkConnection, NetlinkFailure, NetlinkMessage, NetlinkRequest } from './connection.js';
export { describeFailure, NetlinkBatchError, NetlinkError, DecodeError } from './errors.js';
export { type Attribute, Attributes, cText, eachAttribute, readStructure } from './attributes.js';
export { PayloadWriter } from './payload.js';
export * from './protocol.js';
export { type ConnectionOptions, openNetlinkConnection, openRouteConnection } from './socket.js';
