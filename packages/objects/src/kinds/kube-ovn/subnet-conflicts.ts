/** Contradictions between Subnets, which no schema of one can see. */
import { containsPrefix, formatPrefix, type Prefix } from '@podwire/addresses';
import { groupBy } from '@podwire/platform';
import type { Subnet } from './subnet.js';
import { readBlock } from './text.js';

export interface SubnetConflict {
  /** Of both subnets; the first stands earlier in the list. */
  readonly subnets: readonly [string, string];
  /** Where it is in the second: `spec.cidrBlock`. */
  readonly field: string;
  /** Names both objects and their fields. */
  readonly message: string;
}

/**
 * Contradictions between subnets: addresses that overlap in a VPC and VLAN, a routing table of two, two defaults, a namespace of two.
 * Where more than two collide, each is compared with one before it, so that there are never more conflicts than fields.
 * @param subnets those that count first; the later one of two is the one that is wrong
 */
export const findSubnetConflicts = (subnets: readonly Subnet[]): readonly SubnetConflict[] => [
  ...findOverlaps(subnets),
  ...findDoubles(subnets, tablesOf),
  ...findDoubles(subnets, defaultsOf),
  ...findDoubles(subnets, namespacesOf),
];

interface Owned {
  readonly subnet: Subnet;
  /** Of the subnet in the list. */
  readonly place: number;
  readonly prefix: Prefix;
}

function findOverlaps(subnets: readonly Subnet[]): SubnetConflict[] {
  const owned = subnets.flatMap((subnet, place) =>
    (readBlock(subnet.spec.cidrBlock)?.prefixes ?? []).map((prefix) => ({ subnet, place, prefix })),
  );
  const networks = groupBy(owned, ({ subnet: { spec }, prefix }) =>
    [prefix.family, spec.vpc, spec.vlan].join(' '),
  );
  return [...networks.values()].flatMap((network) => [...findEnclosed(network)]);
}

/** Two prefixes that overlap lie one within the other: in order, each is compared with those that are still open. */
function* findEnclosed(network: readonly Owned[]): Generator<SubnetConflict> {
  const open: Owned[] = [];
  for (const own of network.toSorted(compareOwned)) {
    while (open.length > 0 && !containsPrefix(open.at(-1)!.prefix, own.prefix)) open.pop();
    const around = open.at(-1);
    if (around !== undefined) yield describeOverlap(around, own);
    open.push(own);
  }
}

function compareOwned(a: Owned, b: Owned): number {
  const [from, to] = [a.prefix.address.value, b.prefix.address.value];
  if (from !== to) return from < to ? -1 : 1;
  return a.prefix.length - b.prefix.length || a.place - b.place;
}

function describeOverlap(a: Owned, b: Owned): SubnetConflict {
  const [first, second] = a.place < b.place ? [a, b] : [b, a];
  const { vpc, vlan } = second.subnet.spec;
  const where = vlan === '' ? `the VPC ${vpc}` : `the VPC ${vpc} and the VLAN ${vlan}`;
  return describeConflict(
    [first.subnet, second.subnet],
    'spec.cidrBlock',
    `${formatPrefix(second.prefix)} overlaps ${formatPrefix(first.prefix)} of spec.cidrBlock of Subnet ${first.subnet.metadata.name} in ${where}`,
  );
}

/** A value that only one subnet may have, with its field. */
interface Claim {
  readonly field: string;
  /** In words: `42`, `the namespace shop`. */
  readonly value: string;
}

function* findDoubles(
  subnets: readonly Subnet[],
  claimsOf: (subnet: Subnet) => readonly Claim[],
): Generator<SubnetConflict> {
  const first = new Map<string, { readonly subnet: Subnet; readonly field: string }>();
  for (const subnet of subnets)
    for (const { field, value } of claimsOf(subnet)) {
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, { subnet, field });
      else
        yield describeConflict(
          [earlier.subnet, subnet],
          field,
          `${value} is that of ${earlier.field} of Subnet ${earlier.subnet.metadata.name} already`,
        );
    }
}

/** Tables are those of nodes, so that VPCs and VLANs make no difference. */
const tablesOf = ({ spec: { policyRoutingTableID: table } }: Subnet): Claim[] =>
  table === undefined ? [] : [{ field: 'spec.policyRoutingTableID', value: `${table}` }];

const defaultsOf = ({ spec }: Subnet): Claim[] =>
  spec.default ? [{ field: 'spec.default', value: 'true' }] : [];

const namespacesOf = ({ spec: { namespaces } }: Subnet): Claim[] =>
  namespaces.map((namespace, index) => ({ field: `spec.namespaces[${index}]`, value: namespace }));

const describeConflict = (
  [first, second]: readonly [Subnet, Subnet],
  field: string,
  words: string,
): SubnetConflict => ({
  subnets: [first.metadata.name, second.metadata.name],
  field,
  message: `Subnet ${second.metadata.name}: ${field}: ${words}`,
});
