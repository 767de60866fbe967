export type * from './contract.js';
export { DesiredState } from './desired-state.js';
export { failuresOf } from './names.js';
