export { type FaultPoints, noFaults } from '@podwire/platform';
export type * from './contract.js';
export { createEngine, type EngineOptions } from './create-engine.js';
export {
  type CallOptions,
  type Change,
  type Drift,
  type Engine,
  type Exchange,
  type Reconcile,
  type ReconcileOptions,
  type ResourceSpan,
  type Tracer,
} from './engine.js';
export { createKindRegistry, type KindRegistry } from './registry.js';
