export { settle } from './settle.js';
export { createTestbed, type StepObserver, type TestbedOptions } from './create.js';
export { openTestbedNamespace, type RunOptions, type TestbedNamespace } from './net/namespaces.js';
export { type NodePlaces, parentDirectory, type Places, placesOf } from './places.js';
export type { Addresses, Party, Station, Vacancy } from './probe/party.js';
export { planProbes, type Probe, type ProbeKind } from './probe/plan.js';
export {
  type ConnectivityReport,
  probeConnectivity,
  type ProbeOptions,
  type ProbeResult,
} from './probe/run.js';
export { hasEtcd } from './programs.js';
export { listTestbeds, type PodRecord, readRecord, type TestbedRecord } from './record.js';
export type { ConfigAdditions, TestbedAgent } from './run/agent.js';
export { type Daemon, type DaemonState, stateOf } from './run/daemon.js';
export type { PodWish, TestbedPod } from './run/pods.js';
export type { TestbedStore } from './run/store.js';
export {
  fabrics,
  type Fabric,
  type Families,
  type FamilyAddresses,
  familyChoices,
  type NodePlace,
  type Shape,
  type StoreKind,
  storeKinds,
  type Topology,
  usualName,
  usualShape,
} from './shape.js';
export { countTestbed, type Inventory, isNothing, takeDown } from './take-down.js';
export { fabricName, openTestbed, type Testbed, type TestbedNode } from './testbed.js';
