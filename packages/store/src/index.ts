export type * from './contract.js';
export type { ObjectKind } from './objects.js';
export type { Candidate, HolderOptions, Lock } from './lock.js';
export type { StoreSpec, TlsFiles } from './open.js';
