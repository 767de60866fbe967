export { applyImport, type ApplyOptions, requireValid } from './apply.js';
export type { Creation } from './plan/compare.js';
export { type ImportPlan, planImport, type PlanOptions } from './plan/plan.js';
export { emptyState, type Imported, type ImportState, readImportState } from './plan/state.js';
export type {
  Dump,
  DumpedAffinity,
  DumpedBlock,
  DumpedEndpoint,
  DumpedHandle,
  DumpedPolicyObject,
  DumpedPool,
  DumpedReservation,
  DumpFile,
} from './read/dump.js';
export { readCalicoDump } from './read/read-dump.js';
export { describeDiagnostic, type Level, type Diagnostic } from './diagnostics.js';
export { type Translation, translateSelector } from './selector.js';
