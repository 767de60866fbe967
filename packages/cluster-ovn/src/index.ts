export type * from './contract.js';
export { JOIN_SUBNET, nodePortName, podPortName } from './topology/names.js';
export { topologyPlans } from './topology/plans.js';
export { annotationNames, type Annotations, readAllocation } from './pods/annotations.js';
export type * from './pods/contract.js';
export { planAddresses } from './pods/plan-addresses.js';
