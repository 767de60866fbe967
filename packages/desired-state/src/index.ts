export type * from './contract.js';
export { DesiredState } from './desired-state.js';
export {
  ReconcileLoop,
  type ReconcileLoopOptions,
  type ReconciledState,
  type ReconcileTimes,
} from './reconcile-loop.js';
export { failuresOf } from './names.js';
