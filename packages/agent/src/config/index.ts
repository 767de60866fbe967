export type { ClusterConfig } from './cluster.js';
export { checkConfig, type ConfigCheck, loadConfig, parseConfig } from './load.js';
export { type ConfigOrigin, openConfig, type OriginalConfig } from './origin.js';
export { type ConfigProblem, formatProblem } from './problems.js';
export { renderConfigReference } from './reference.js';
export type { AgentConfig, NetworkConfig, PoolConfig } from './schema.js';
export { configShape } from './shape.js';
