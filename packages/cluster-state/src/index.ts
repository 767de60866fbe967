export { type CacheChange, type ClusterCache, type ClusterCacheOptions, openClusterCache } from './cache.js';
export { type Changes, Informer, type InformerOptions, ObjectCache, type Stored } from './informer.js';
export { folders, type Keys, keysBelow } from './keys.js';
export * from './kinds.js';
