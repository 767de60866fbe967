export type * from './contract.js';
export { DesiredState, failuresOf } from './desired-state.js';
