export {
  applyAtOnce,
  applyChanges,
  applyDifference,
  type ApplyOptions,
  type ApplyOutcome,
  type AtOnceOptions,
} from './apply.js';
export type * from './contract.js';
export { openJournal, type Journal, type JournalFile, type JournalOptions } from './journal.js';
export { Planner, type PlannerOptions } from './planner.js';
export { collect } from './scopes.js';
