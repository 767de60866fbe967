export type { ConfigMapContent, FindConfigMap } from './config-map.js';
export { readConfigMapDirectory } from './config-map.js';
export { buildHosts } from './hosts.js';
export { kernelMounts, type Mounts } from './mounts.js';
export { loadProbeResults, withProbeResults } from './probe-results.js';
export { createPodPreparation, type PreparationOptions } from './preparation.js';
