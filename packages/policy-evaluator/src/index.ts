export type * from './cluster.js';
export { evaluate } from './evaluate.js';
