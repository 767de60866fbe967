export { Cluster } from './cluster.js';
export type {
  AppProfile,
  Change,
  ClusterView,
  Endpoint,
  EndpointGroup,
  Entries,
  EntryType,
  Global,
  GroupEntry,
  Netprofile,
  Network,
  NetworkEntry,
  NetworkTags,
  NetworkUse,
  ObjectType,
  Plan,
  Policy,
  Reservation,
  Rule,
  Tenant,
} from './contract.js';
export { missingKinds, objectKinds, type ObjectKind } from './kinds.js';
export { calls, type PluginCall } from './plan/calls.js';
export { planCleanUp } from './plan/clean-up.js';
export { planDelete } from './plan/delete.js';
export { globalDefaults, type GlobalRequest, planStart } from './plan/globals.js';
export { inspectEndpoint, inspectObject } from './render/inspect.js';
export { type Fields, renderObject } from './render/objects.js';
export { folders, leaderKey, objectKey, root } from './store/layout.js';
export { type MasterOptions, TenantMaster } from './store/master.js';
export { readCluster, type Snapshot } from './store/read.js';
