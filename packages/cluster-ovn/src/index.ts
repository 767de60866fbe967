export type * from './contract.js';
export { gatewayMac } from './topology/rows.js';
export { JOIN_SUBNET, nodePortName, podPortName } from './topology/names.js';
export { topologyPlans } from './topology/plans.js';
export {
  annotationNames,
  type Annotations,
  mergeAnswers,
  readAllocation,
  readAsked,
  selectAnswers,
} from './pods/annotations.js';
export type { Labels } from './cluster/node-labels.js';
export { answerNodes } from './cluster/answer-nodes.js';
export type * from './pods/contract.js';
export { planAddresses } from './pods/plan-addresses.js';
export type * from './cluster/contract.js';
export { listDefaults } from './cluster/defaults.js';
export { planOvnCluster } from './cluster/plan-cluster.js';
export { OvnPlanner } from './cluster/planner.js';
export { ClusterMemory, type ClusterMemoryOptions, type FollowOptions } from './store/cluster-memory.js';
export type { PodRecord } from './store/records.js';
