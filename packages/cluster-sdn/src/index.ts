export { lowestVnid, Vnids } from './allocation/vnids.js';
export { SubnetRanges } from './allocation/subnet-ranges.js';
export type { Change, ClusterNode, ClusterPlan, Cursors, SdnCluster, SdnObjects } from './contract.js';
export { decideNetworkChange, type NetworkDecision, type NetworkView } from './plan/network-change.js';
export { planCluster } from './plan/plan-cluster.js';
export { applyPlan, type ApplyOptions } from './store/apply.js';
export { readSdnObjects, selectSdnObjects, type SdnSnapshot } from './store/read.js';
