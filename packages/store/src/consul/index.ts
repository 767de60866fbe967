export type { ConsulOptions, ConsulSpec } from './options.js';
export { openConsulStore } from './store.js';
