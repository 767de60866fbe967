export { createLocalBlockSource } from './block-source.js';
export type {
  AddressRange,
  Adoption,
  BlockReport,
  BlockSource,
  Clock,
  Ipam,
  IpamOptions,
  Lease,
  LeaseRequest,
  BorrowedAddress,
  Pool,
  PoolReport,
  PoolSpec,
  Taken,
} from './contract.js';
export { type BlockOrder, FreeBlocks } from './free-blocks.js';
export { FreeNumbers } from './free-numbers.js';
export { createIpam } from './ipam.js';
export { defaultBlockSize, gatewayOf, readPool } from './pool.js';
export { findOverlaps, type PoolProblem, validatePools } from './validate.js';
