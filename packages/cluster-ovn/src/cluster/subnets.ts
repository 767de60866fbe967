/** Subnets that can be made, and those that contradict others. Pure. */
import { findSubnetConflicts, type StoredObject, type Subnet } from '@podwire/objects';
import type { PodwireError } from '@podwire/errors';
import type { Underlay } from '../contract.js';
import { conflict } from '../problems.js';
import type { OvnObjects } from './contract.js';

export interface CheckedSubnet {
  readonly subnet: Subnet;
  readonly underlay?: Underlay | undefined;
  /** It cannot be made, or changed, as it is. */
  readonly fault?: PodwireError | undefined;
}

export interface CheckedSubnets {
  readonly subnets: readonly CheckedSubnet[];
  readonly problems: readonly PodwireError[];
}

/** The older one of two that contradict each other stays as it is. */
export function checkSubnets(objects: Pick<OvnObjects, 'subnets' | 'vpcs' | 'vlans'>): CheckedSubnets {
  const ordered = objects.subnets.toSorted(compareAge).map(({ object }) => object);
  const conflicts = findSubnetConflicts(ordered);
  const overlapping = new Map(
    conflicts
      .filter(({ field }) => field === 'spec.cidrBlock')
      .map((one) => [one.subnets[1], conflict(one.message)]),
  );
  const others = conflicts
    .filter(({ field }) => field !== 'spec.cidrBlock')
    .map(({ message }) => conflict(message));
  const vlans = new Map(objects.vlans.map(({ object }) => [object.metadata.name, object]));
  const vpcs = new Set(objects.vpcs.map(({ object }) => object.metadata.name));
  const subnets = ordered.map((subnet): CheckedSubnet => {
    const { name } = subnet.metadata;
    const vlan = vlans.get(subnet.spec.vlan);
    const underlay = vlan === undefined ? undefined : { provider: vlan.spec.provider, vlan: vlan.spec.id };
    const fault = overlapping.get(name) ?? findMissing(subnet, { hasVlan: vlan !== undefined, vpcs });
    return { subnet, underlay, fault };
  });
  return { subnets, problems: [...subnets.flatMap(({ fault }) => fault ?? []), ...others] };
}

function findMissing(
  { metadata: { name }, spec: { vlan, vpc } }: Subnet,
  { hasVlan, vpcs }: { readonly hasVlan: boolean; readonly vpcs: ReadonlySet<string> },
): PodwireError | undefined {
  if (vlan !== '' && !hasVlan) return conflict(`Subnet ${name}: spec.vlan: there is no Vlan ${vlan}`);
  return vpcs.has(vpc) ? undefined : conflict(`Subnet ${name}: spec.vpc: there is no Vpc ${vpc}`);
}

const compareAge = (a: StoredObject<Subnet>, b: StoredObject<Subnet>): number =>
  (a.created ?? 0) - (b.created ?? 0) || (a.object.metadata.name < b.object.metadata.name ? -1 : 1);
