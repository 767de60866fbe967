export { waitUntilConnected } from './wait-connected.js';
export { createTestbed, type StepObserver, type TestbedOptions } from './create.js';
export { openTestbedNamespace, type RunOptions, type TestbedNamespace } from './net/namespaces.js';
export { type NodePaths, parentDirectory, type Paths, pathsOf } from './paths.js';
export type { Addresses, Participant, Station, UnusedAddress } from './probe/participant.js';
export { askAgents, type AskPolicy } from './probe/expected.js';
export { ping } from './probe/ping.js';
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
export {
  type AnnotationChanges,
  type PodName,
  type PodPort,
  readAnnotationChanges,
  readAnnotations,
  readLabels,
  readPodName,
  readPorts,
} from './pod-spec.js';
export { environmentOf, type TestbedSwitch } from './run/open-vswitch.js';
export { type OvnDatabase, ovnEnvironmentOf, type TestbedOvn } from './run/ovn.js';
export type { PodRequest, TestbedPod } from './run/pods.js';
export type { TestbedStore } from './run/store.js';
export {
  encapsulationChoices,
  type Encapsulation,
  fabrics,
  type Fabric,
  type Families,
  type FamilyAddresses,
  familyChoices,
  type Model,
  modelChoices,
  type PlannedNode,
  type SdnMode,
  sdnModes,
  type Shape,
  type StoreKind,
  storeKinds,
  type Topology,
  defaultName,
  defaultShape,
} from './shape.js';
export { countTestbed, type Inventory, isNothing, tearDownTestbed } from './teardown.js';
export { fabricName, openTestbed, type Testbed, type TestbedNode } from './testbed.js';
