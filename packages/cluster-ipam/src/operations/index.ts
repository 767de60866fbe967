/** Operations of people and the controller on the addresses of the whole cluster. */
export { type ClusterAccess, commit } from './access.js';
export {
  checkCluster,
  type CheckOptions,
  type CheckReport,
  fixCluster,
  type FixOptions,
  type FixReport,
} from './check.js';
export { type Collection, type Collector, type CollectorOptions, createCollector } from './collect.js';
export {
  type Problem,
  findingDefaults,
  type ProblemKind,
  type ProblemOptions,
  type Repair,
  type Fix,
} from './problems/index.js';
export { commonEncapsulation, describeMixture, podsOfNode } from './harm.js';
export {
  migratePool,
  type MigrateOptions,
  type MigratingBlock,
  type MigratingPod,
  type Migration,
} from './migrate.js';
export { type NodeShown, showNodes } from './nodes.js';
export { buildPool, type PoolInput, type PoolPatch } from './pool-rules.js';
export {
  createPool,
  createPools,
  deletePool,
  type DeletePoolOptions,
  type PoolUse,
  requirePool,
  updatePool,
} from './pools.js';
export { releaseAddress, type ReleaseAddressOptions, type ReleasedAddress } from './release.js';
export { type ReleasedNode, releaseNode, type ReleaseNodeOptions } from './release-node.js';
export {
  type AddressShown,
  type BlockShown,
  type ClusterShown,
  type BorrowedAddressShown,
  type PoolShown,
  showAddress,
  showCluster,
  showPool,
  type Use,
} from './show.js';
export { type ClusterSnapshot, decodeCluster, readCluster } from './snapshot.js';
export { splitPool } from './split.js';
export { nameOfWorkload, type WorkloadInput } from './workload-rules.js';
export { deleteWorkload, parseWorkloadName, setWorkload } from './workloads.js';
export { compareCidrs } from './text.js';
