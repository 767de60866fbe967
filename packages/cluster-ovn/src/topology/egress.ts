/** Policies of the default VPC's router: what stays inside, and through which nodes the rest leaves. */
import type { PortGroup, RouterPolicy } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import { collect, type Planned, type Read } from '@podwire/planner';
import type { OvnNode, OvnSubnet } from '../contract.js';
import { egressGroupName } from './names.js';
import { isSameFamily, protocolOf, vendor } from './rows.js';

/** The higher decides: packets to pods and nodes go straight there. As in Kube-OVN. */
const priorities = { toSubnet: 31_000, toNode: 30_000, out: 29_000 } as const;

type Policy = Omit<RouterPolicy, 'kind' | 'router' | 'externalIds'>;

const policyOf = (router: string, policy: Policy): RouterPolicy => ({
  ...{ kind: 'router-policy', router, externalIds: vendor },
  ...policy,
});

/** For a subnet of the default VPC. */
export function planEgress(name: string, subnet: OvnSubnet, read: Read): Planned<Resource> {
  const inside = subnet.ranges.map(({ cidr }) => allowTo(name, subnet.vpc, cidr));
  if (subnet.egress.type === 'centralized')
    return { resources: [...inside, ...planCentral(name, subnet, subnet.egress.nodes, read)] };
  const perNode = collect<'ovn-nodes', Resource>('ovn-nodes', (node, nodes) =>
    planDistributed(name, subnet, node, nodes.get(node)!),
  );
  return { resources: inside, collections: [perNode] };
}

const allowTo = (subnet: string, router: string, cidr: string): RouterPolicy =>
  policyOf(router, {
    ...{ name: `to ${subnet} ${protocolOf(cidr)}`, priority: priorities.toSubnet, action: 'allow' },
    match: `${protocolOf(cidr)}.dst == ${cidr}`,
  });

/** Pods on the node leave through it. The set of their addresses is OVN's own, of the group's ports. */
function planDistributed(
  subnet: string,
  { vpc: router, ranges }: OvnSubnet,
  node: string,
  { joinAddresses }: OvnNode,
) {
  const group = egressGroupName(subnet, node);
  const families = joinAddresses.filter((hop) => ranges.some(({ cidr }) => isSameFamily(cidr, hop)));
  return [
    planEgressGroup(subnet, node),
    ...families.map((hop) =>
      policyOf(router, {
        ...{
          name: `from ${subnet} on ${node} ${protocolOf(hop)}`,
          priority: priorities.out,
          action: 'reroute',
        },
        ...{ match: `${protocolOf(hop)}.src == $${group}_${protocolOf(hop)}`, nextHops: [hop] },
      }),
    ),
  ];
}

export const planEgressGroup = (subnet: string, node: string): PortGroup => ({
  ...{ kind: 'port-group', name: egressGroupName(subnet, node) },
  externalIds: { ...vendor, subnet, node },
});

/** Several nodes share the traffic. Without any that works the packets end at the router. */
function planCentral(
  subnet: string,
  { vpc: router, ranges }: OvnSubnet,
  names: readonly string[],
  read: Read,
) {
  const hops = names.flatMap((node) => read(`ovn-node/${node}`)?.joinAddresses ?? []);
  return ranges.map(({ cidr }): RouterPolicy => {
    const nextHops = hops.filter((hop) => isSameFamily(hop, cidr));
    const common = {
      ...{ name: `from ${subnet} ${protocolOf(cidr)}`, priority: priorities.out },
      match: `${protocolOf(cidr)}.src == ${cidr}`,
    };
    return policyOf(
      router,
      nextHops.length === 0 ? { ...common, action: 'drop' } : { ...common, action: 'reroute', nextHops },
    );
  });
}

/** Packets to the node's own addresses go to its end of the subnet `join`, from wherever they come. */
export const planToNode = (
  router: string,
  node: string,
  { addresses, joinAddresses }: OvnNode,
): RouterPolicy[] =>
  addresses.flatMap((address) => {
    const hop = joinAddresses.find((one) => isSameFamily(one, address));
    if (hop === undefined) return [];
    return policyOf(router, {
      ...{ name: `to node ${node} ${address}`, priority: priorities.toNode, action: 'reroute' },
      ...{ match: `${protocolOf(address)}.dst == ${address}`, nextHops: [hop] },
    });
  });
