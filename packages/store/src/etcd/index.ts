export { openEtcdStore } from './open.js';
export type { EtcdOptions, EtcdSpec, EtcdTimeouts } from './options.js';
