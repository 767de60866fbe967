export { applyChange, arbitraryChange, type ClusterChange, nameOfObject, nameOfPod } from './changes.js';
export { arbitraryCluster, type ClusterSize, standardSize } from './cluster.js';
export { listConnections } from './connections.js';
export { arbitraryObject, arbitraryPolicies, type PolicyFamily, samplePolicySets } from './policies.js';
export { foreignAddresses } from './vocabulary.js';
