export type {
  CallOptions,
  Change,
  Drift,
  Engine,
  FaultPoints,
  Owned,
  ResourceSpan,
  Tracer,
} from './engine.js';
export { noFaults } from './engine.js';
export type {
  EndpointId,
  EndpointRecord,
  LeaseRecord,
  NamespaceIdentity,
  OwnerId,
  Phase,
  PodIdentity,
  RecordStore,
} from './record.js';
export { endpointKey } from './record.js';
export type * from './resource.js';
