export type { ClusterCache, CacheChange, Stored } from './cache.js';
export { type ClusterCacheOptions, openClusterCache } from './open-cache.js';
export { completePool, type PoolPart } from './complete-pool.js';
export { folders, type Keys, keysBelow } from './keys.js';
export * from './kinds.js';
