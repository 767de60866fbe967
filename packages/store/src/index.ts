export type * from './contract.js';
export { conflict, isUncertain, leaseLost, unavailable } from './failures.js';
export { checkKey, checkPrefix, checkTransaction, checkValue, longestKey } from './keys.js';
export { decodeObject, encodeObject, type ObjectKind, objectLimits } from './objects.js';
export type { Candidate, HolderOptions, Lock } from './lock.js';
export type { StoreSpec, TlsFiles } from './open.js';
