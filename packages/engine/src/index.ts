export { carryOutAsFarAsPossible } from './as-far-as-possible.js';
export { type FaultPoints, noFaults } from '@podwire/platform';
export type * from './contract.js';
export { createEngine, type EngineOptions } from './create-engine.js';
export {
  type CallOptions,
  type Change,
  type ChangeSet,
  type Drift,
  type Engine,
  type Owner,
  type Reconcile,
  type ReconcileOptions,
  type ResourceSpan,
  type Tracer,
} from './engine.js';
export { HintQueue } from './hint-queue.js';
export { inApplyOrder } from './order.js';
export { type Lead, TouchIndex } from './touch-index.js';
export { createKindRegistry, type KindRegistry } from './registry.js';
