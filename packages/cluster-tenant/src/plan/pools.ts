/** Pools of addresses that one group of a network keeps for itself. */
import { poolsOf } from '../allocation/addresses.js';
import type { ClusterView, Network } from '../contract.js';
import { networkKey } from '../keys.js';
import { invalidField } from '../objects/read-fields.js';
import {
  addressOf,
  type HostRange,
  inRange,
  parsePool,
  parseSubnet,
  rangesMeet,
  type Subnet,
} from '../objects/subnet.js';
import { conflict } from '../problems.js';

/** @throws PodwireError REQUEST_INVALID for a pool outside the network, TENANT_CONFLICT for one that is in use */
export function requirePool(cluster: ClusterView, object: string, network: Network, text: string): void {
  const subnet = parseSubnet(network.subnet);
  const pool = readPool(object, text, subnet);
  const other = [...poolsOf(cluster, network)].find(([, range]) => rangesMeet(range, pool));
  if (other !== undefined) throw conflict(object, 'ipPool', `overlaps that of endpointGroup ${other[0]}`);
  const { free } = cluster.use(networkKey(network));
  for (let host = pool.first; host <= pool.last; host++)
    if (!free.isFree(host))
      throw conflict(object, 'ipPool', `has ${addressOf(subnet, host)}, which is taken`);
}

function readPool(object: string, text: string, subnet: Subnet): HostRange {
  const pool = parseOr(text, subnet, (message) => invalidField(object, 'ipPool', message));
  const { range } = subnet;
  if (inRange(range, pool.first) && inRange(range, pool.last)) return pool;
  throw invalidField(object, 'ipPool', 'must lie within the addresses that the network hands out');
}

function parseOr(text: string, subnet: Subnet, failure: (message: string) => Error): HostRange {
  try {
    return parsePool(text, subnet);
  } catch (error) {
    throw failure((error as Error).message);
  }
}
