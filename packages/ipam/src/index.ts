export type { Clock, Ipam, IpamOptions, LeaseRequest, PoolReport, PoolSpec, Lease } from './contract.js';
