export { applyDifference, type ApplyOptions, type ApplyOutcome } from './apply.js';
export { openJournal, type Journal, type JournalFile, type JournalOptions } from './journal.js';
export {
  type Change,
  type Conflict,
  type Plan,
  Planner,
  type PlannerOptions,
  type Read,
  type Scope,
} from './planner.js';
