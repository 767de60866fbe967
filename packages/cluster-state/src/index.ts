export type { ClusterCopy, CopyChange, Stored } from './copy.js';
export { type ClusterCopyOptions, openClusterCopy } from './open-copy.js';
export { completePool, type PoolPart } from './complete-pool.js';
export { folders, type Keys, keysBelow } from './keys.js';
export * from './kinds.js';
