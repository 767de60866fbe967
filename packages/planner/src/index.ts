export { applyChanges, applyDifference, type ApplyOptions, type ApplyOutcome } from './apply.js';
export type * from './contract.js';
export { openJournal, type Journal, type JournalFile, type JournalOptions } from './journal.js';
export { Planner, type PlannerOptions } from './planner.js';
export { collect } from './scopes.js';
