export type {
  CallOptions,
  Change,
  Drift,
  Engine,
  FaultPoints,
  NamespaceIdentity,
  Owned,
  OwnerId,
  ResourceSpan,
  Tracer,
  ReconcileOptions,
} from './engine.js';
export { noFaults } from './engine.js';
export { createEngine, type EngineOptions } from './create-engine.js';
export type { Kernel, KernelNamespace, Parameters } from './kernel.js';
export { isDoomed, LIVE_GROUP, ROUTE_PROTOCOL, TABLE_PREFIX } from './marks.js';
export { describeResource } from './providers/index.js';
export { type KernelOptions, openKernel } from './real-kernel.js';
export type * from './resource.js';
