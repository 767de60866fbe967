/**
 * Addresses for other main plugins (`bridge`, `ptp`, `macvlan`): they run their IPAM plugin with their own configuration on its
 * standard input (CNI specification 1.1.0, section 4, "Plugin Delegation"). The pod is wired by them; here is only who has which address.
 */
import {
  containsAddress,
  type Family,
  formatAddress,
  parseAddress,
  parsePrefix,
  prefixOf,
} from '@podwire/addresses';
import type { RequestConfig, Result } from '@podwire/cni';
import type { LeaseRecord } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { gatewayOf, type PoolSpec } from '@podwire/ipam';
import { z } from 'zod';
import { isAddressText, isPrefixText } from '../config/address-text.js';
import type { AddRequest } from './read-request.js';

/** Name of such a plugin in `ipam.type`. */
const delegatedType = 'podwire-ipam';

const address = z.string().max(64).refine(isAddressText, 'no address');
const prefix = z.string().max(64).refine(isPrefixText, 'no ADDRESS/LENGTH');

const schema = z.strictObject({
  type: z.literal(delegatedType),
  network: z.string().optional(),
  /**
   * How much of the neighbourhood is on the link: `host` nothing (/32, /128), `block` the node's block, `pool` all of the pool. By default
   * `block` for pools whose blocks have a gateway (`node-cidr`), `host` for the others.
   */
  subnet: z.enum(['host', 'block', 'pool']).optional(),
  /** At most one of each family; by default that of the block, where it has one. */
  gateways: z.array(address).max(2).optional(),
  /** Put into the result as they are; without `gw` the main plugin uses the gateway. */
  routes: z
    .array(z.strictObject({ dst: prefix, gw: address.optional() }))
    .max(256)
    .optional(),
});

/** The `ipam` section, understood. */
export type Delegation = z.output<typeof schema>;

/**
 * The `ipam` section of a configuration, when the caller is another plugin and we are its IPAM.
 * @throws PodwireError CONFIG_INVALID naming the field
 */
export function readDelegation({ type, ipam }: RequestConfig): Delegation | undefined {
  if (ipam?.type !== delegatedType) return undefined;
  if (type === 'podwire-cni') {
    throw new PodwireError(
      'CONFIG_INVALID',
      'ipam: podwire-cni has its addresses from the agent itself; leave `ipam` out',
    );
  }
  const read = schema.safeParse(ipam);
  if (!read.success) {
    const problems = read.error.issues.map(
      ({ path, message }) => `${['ipam', ...path].join('.')}: ${message}`,
    );
    throw new PodwireError('CONFIG_INVALID', problems.join('; '), { details: { problems } });
  }
  const families = (read.data.gateways ?? []).map((each) => parseAddress(each).family);
  if (new Set(families).size === families.length) return read.data;
  throw new PodwireError('CONFIG_INVALID', 'ipam.gateways: two of one family');
}

/** The pod and its addresses alone: the main plugin handles ports, rates and the MAC. */
export const onlyAddresses = ({ pod, facts, addresses, pools, families }: AddRequest): AddRequest =>
  compact({ pod, facts, addresses, annotations: {}, portMappings: [], pools, families });

/** Answer of an IPAM plugin: no interfaces, and no `interface` with an address (section 5, "IPAM plugins"). */
export function answerDelegated(
  delegation: Delegation,
  leases: readonly LeaseRecord[],
  pools: readonly PoolSpec[],
): Result {
  const { routes } = delegation;
  return {
    cniVersion: '1.1.0',
    ips: leases.map((lease) => describeLease(delegation, lease.address, poolOf(lease, pools))),
    ...(routes === undefined ? {} : { routes: routes.map(({ dst, gw }) => ({ dst, ...compact({ gw }) })) }),
  };
}

function poolOf({ address }: LeaseRecord, pools: readonly PoolSpec[]): PoolSpec | undefined {
  return pools.find(({ cidr }) => containsAddress(parsePrefix(cidr), parseAddress(address)));
}

function describeLease(
  { subnet, gateways = [] }: Delegation,
  address: string,
  pool: PoolSpec | undefined,
): NonNullable<Result['ips']>[number] {
  const parsed = parseAddress(address);
  const gateway =
    gateways.find((each) => parseAddress(each).family === parsed.family) ?? ownGateway(address, pool);
  const length = lengthOf(subnet, parsed.family, pool);
  return { address: `${address}/${length}`, ...compact({ gateway }) };
}

function lengthOf(subnet: Delegation['subnet'], family: Family, pool: PoolSpec | undefined): number {
  const chosen = subnet ?? (pool?.allocation === 'node-cidr' ? 'block' : 'host');
  const whole = family === 4 ? 32 : 128;
  if (chosen === 'host' || pool === undefined) return whole;
  return chosen === 'block' ? pool.blockSize : parsePrefix(pool.cidr).length;
}

function ownGateway(address: string, pool: PoolSpec | undefined): string | undefined {
  if (pool?.allocation !== 'node-cidr') return undefined;
  return formatAddress(gatewayOf(prefixOf(parseAddress(address), pool.blockSize)));
}
