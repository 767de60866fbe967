export type * from './contract.js';
// `failures` and `keys` are also for back ends outside this repository, which the compliance suite tests.
export { conflict, isUncertain, leaseLost, unavailable } from './failures.js';
export { checkKey, checkPrefix, checkTransaction, checkValue, longestKey } from './keys.js';
export { decodeObject, encodeObject, type ObjectKind, objectLimits } from './objects.js';
export { type Candidate, electLeader } from './election.js';
export { type KeeperOptions, keepLease, type KeptLease } from './lease-keeper.js';
export { acquireLock, type LockOptions, type Lock, tryLock } from './lock.js';
export { repeatOnConflict } from './repeat-on-conflict.js';
export { hostOfEndpoint, openStore, parseStoreUrl, plainEndpoints } from './open.js';
export { storeSpecSchema } from './spec-schema.js';
