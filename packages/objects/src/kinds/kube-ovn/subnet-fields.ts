import { addressBits, formatPrefix, type Prefix, specialKinds } from '@podwire/addresses';
import { z } from 'zod';
import { cidr } from '../shared/text.js';
import { readRange } from './address-ranges.js';
import { addressCount, conditions } from './conditions.js';
import {
  addresses,
  defaultProvider,
  defaultVpc,
  formatPrefixes,
  namespaceName,
  objectName,
  optionalName,
  readBlock,
  uniqueList,
} from './text.js';

function findBlockFault(text: string): string | undefined {
  const block = readBlock(text);
  if (block === undefined)
    return 'must be a prefix, or one of each family with that of IPv4 first: 10.16.0.0/16 or 10.16.0.0/16,fd00:10:16::/64';
  const { prefixes, isLoose } = block;
  if (isLoose) return `has bits set beyond its length; write ${formatPrefixes(prefixes)}`;
  return prefixes.map(findPrefixFault).find((fault) => fault !== undefined);
}

function findPrefixFault(prefix: Prefix): string | undefined {
  const kinds = specialKinds(prefix);
  if (kinds.length > 0) return `has ${kinds.join(', ')} addresses, which no pod can have`;
  const longest = addressBits(prefix.family) - 2;
  if (prefix.length <= longest) return undefined;
  return `must be at most /${longest}, since no address is left beside the gateway in ${formatPrefix(prefix)}`;
}

const cidrBlock = z
  .string()
  .max(128)
  .superRefine((text, context) => {
    const message = findBlockFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Entries of `excludeIps`. */
export const mostRanges = 4096;

const excludedRange = z
  .string()
  .max(128)
  .superRefine((text, context) => {
    const { fault } = readRange(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

const optionalAddresses = z.union([z.literal(''), addresses]).default('');

/** Those of the kernel (rt_tables): compat, default, main, local. */
const takenTables: ReadonlySet<number> = new Set([252, 253, 254, 255]);

const routingTable = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .refine((table) => !takenTables.has(table), {
    error: 'must not be 252 to 255, which are tables of the kernel',
  });

export const subnetSpec = z.strictObject({
  default: z
    .boolean()
    .default(false)
    .describe('Pods have their addresses here whose namespace is in no subnet.'),
  vpc: objectName.default(defaultVpc).describe('The Vpc that it lies in.'),
  protocol: z
    .enum(['IPv4', 'IPv6', 'Dual'])
    .optional()
    .describe('The families of cidrBlock. Absent: as cidrBlock has them.'),
  namespaces: uniqueList(namespaceName).describe('Namespaces whose pods have their addresses here.'),
  cidrBlock: cidrBlock.describe('Its prefix, or one of each family: 10.16.0.0/16,fd00:10:16::/64.'),
  gateway: optionalAddresses.describe('The address of its router in each prefix. Absent: the first one.'),
  excludeIps: z
    .array(excludedRange)
    .max(mostRanges)
    .default([])
    .describe('Addresses that no pod has which does not ask for one: A or A..B. The gateway is added.'),
  provider: objectName
    .default(defaultProvider)
    .describe('ovn, or NAME.NAMESPACE.ovn of the attachment that its interfaces are made by.'),
  gatewayType: z
    .enum(['distributed', 'centralized'])
    .default('distributed')
    .describe('Pods leave the cluster through their own nodes, or all through those of gatewayNode.'),
  gatewayNode: z
    .string()
    .max(8192)
    .default('')
    .describe('For centralized: n1,n2 by turns. n1:192.168.1.10: with this address as the source.'),
  natOutgoing: z.boolean().default(false).describe('Pods have the address of a node outside of the cluster.'),
  externalEgressGateway: optionalAddresses.describe(
    'The router outside of the cluster that packets of pods are sent to, with their own addresses.',
  ),
  policyRoutingPriority: z
    .int()
    .min(1)
    .max(32_765)
    .optional()
    .describe('The priority of rules for externalEgressGateway, as ip-rule(8) has it.'),
  policyRoutingTableID: routingTable
    .optional()
    .describe('The routing table for externalEgressGateway; no other subnet has it.'),
  private: z.boolean().default(false).describe('Only pods of the subnet and of allowSubnets reach its pods.'),
  allowSubnets: z
    .array(cidr)
    .max(1024)
    .default([])
    .describe('Prefixes that reach its pods if it is private.'),
  vlan: optionalName.describe('The Vlan that it lies in. Absent: it is an overlay.'),
  disableGatewayCheck: z
    .boolean()
    .default(false)
    .describe('A pod starts without an answer of the gateway to it.'),
  disableInterConnection: z.boolean().default(false).describe('It is not connected to other clusters.'),
  mtu: z.int().min(576).max(65_536).optional().describe('The MTU of its pods. Absent: that of the network.'),
});

export type SubnetFields = z.output<typeof subnetSpec>;

export const subnetStatus = z.strictObject({
  v4availableIPs: addressCount.describe('Addresses of IPv4 that are free.'),
  v4usingIPs: addressCount.describe('Addresses of IPv4 that pods have.'),
  v6availableIPs: addressCount.describe('Addresses of IPv6 that are free.'),
  v6usingIPs: addressCount.describe('Addresses of IPv6 that pods have.'),
  activateGateway: z
    .string()
    .max(253)
    .default('')
    .describe('The node that traffic leaves through, of a centralized gateway with one at a time.'),
  conditions: conditions.describe('How the work on it goes.'),
});
