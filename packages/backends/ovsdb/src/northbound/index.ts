export { createNorthboundBackend, type NorthboundBackend, type NorthboundOptions } from './backend.js';
export type { Reach, SettleOptions } from './barrier.js';
export { northboundKinds } from './kinds.js';
export type * from './resources.js';
