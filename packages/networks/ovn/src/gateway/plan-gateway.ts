/**
 * The gateway of a node as Kube-OVN has it (`kube-ovn 1.8`, rules in the order of its later versions): NAT, marks,
 * routes and policy routing. Each function plans the part that goes with one thing, so that a change of that thing
 * changes no other plan.
 */
import { familyOf } from '@podwire/addresses';
import type { IpRoute, IpRule } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { NODE_LINK } from '../names.js';
import type { EgressGateway, GatewayNode, GatewayPod, GatewaySubnet } from './facts.js';
import { natPodElement, rangeElement, sourceElement } from './sets.js';
import { planTable } from './table.js';

/** All of a node: for a first plan, or where the whole list is applied at once. */
export function planGateway(
  node: GatewayNode,
  subnets: readonly GatewaySubnet[],
  pods: readonly GatewayPod[],
): Resource[] {
  const named = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const subnetOf = ({ subnet }: GatewayPod): GatewaySubnet[] => [named.get(subnet) ?? []].flat();
  return [
    ...planGatewayNode(node),
    ...subnets.flatMap((subnet) => planGatewaySubnet(subnet, node)),
    ...pods.flatMap((pod) => subnetOf(pod).flatMap((subnet) => planGatewayPod(pod, subnet))),
  ];
}

/** The packet filter, and what is inside of the cluster beside subnets of pods. */
export const planGatewayNode = (node: GatewayNode): Resource[] => [
  planTable(node),
  ...node.services.map((cidr) => rangeElement('services', cidr)),
  ...node.join.map(({ cidr }) => rangeElement('subnets', cidr)),
  ...node.localDns.map((address) => rangeElement('subnets', hostRange(address))),
];

/** The way to the pods of a subnet, and the way out for them where all leave through this node. */
export const planGatewaySubnet = (subnet: GatewaySubnet, node: GatewayNode): Resource[] => [
  ...subnet.cidrs.map((cidr) => rangeElement('subnets', cidr)),
  ...planRoutes(subnet, node),
  ...planCentralNat(subnet, node),
  ...planEgress(subnet, node),
];

/** The part of one pod of this node; nothing where its subnet is centralized. */
export function planGatewayPod(
  { addresses }: GatewayPod,
  { through, outgoing }: Pick<GatewaySubnet, 'through' | 'outgoing'>,
): Resource[] {
  if (through !== 'distributed' || outgoing === undefined) return [];
  if (outgoing === 'nat') return addresses.map(natPodElement);
  return addresses.flatMap((address) => planRule(hostRange(address), outgoing));
}

const hostRange = (address: string): string => `${address}/${familyOf(address) === 4 ? 32 : 128}`;

const ofFamilyOf =
  (text: string) =>
  (other: string): boolean =>
    familyOf(other) === familyOf(text);

/** The range of `join` itself is on the link. */
const planRoutes = ({ cidrs }: GatewaySubnet, { join }: GatewayNode): IpRoute[] =>
  cidrs.flatMap((destination) =>
    join
      .map(({ gateway }) => gateway)
      .filter(ofFamilyOf(destination))
      .map((gateway) => ({ kind: 'route', in: 'host', destination, gateway, link: NODE_LINK })),
  );

/** The addresses that packets of the subnet leave with here: undefined where they do not leave through this node. */
function namedAddresses({ through }: GatewaySubnet, { name }: GatewayNode): string[] | undefined {
  if (through === 'distributed') return undefined;
  const entries = through.filter(({ node }) => node === name);
  return entries.length === 0 ? undefined : entries.flatMap(({ address }) => address ?? []);
}

/** A family without an address of its own leaves with the node's. */
function planCentralNat(subnet: GatewaySubnet, node: GatewayNode): Resource[] {
  const named = namedAddresses(subnet, node);
  if (named === undefined || subnet.outgoing !== 'nat') return [];
  return subnet.cidrs.map((cidr) => {
    const address = named.find(ofFamilyOf(cidr));
    return address === undefined ? rangeElement('natsubnets', cidr) : sourceElement(cidr, address);
  });
}

/** The route is that of the subnet, for all its pods; rules of pods come and go with them. */
function planEgress(subnet: GatewaySubnet, node: GatewayNode): Resource[] {
  const { cidrs, through, outgoing } = subnet;
  if (outgoing === undefined || outgoing === 'nat') return [];
  const ways = outgoing.addresses.map((gateway) => planWayOut(gateway, outgoing, node));
  if (through === 'distributed') return ways;
  if (namedAddresses(subnet, node) === undefined) return [];
  return [...ways, ...cidrs.flatMap((cidr) => planRule(cidr, outgoing))];
}

const planWayOut = (gateway: string, { table }: EgressGateway, { uplink }: GatewayNode): IpRoute => ({
  ...{ kind: 'route', in: 'host', destination: familyOf(gateway) === 4 ? '0.0.0.0/0' : '::/0' },
  ...{ gateway, link: uplink, table },
});

/** None for a family that has no gateway: the table would be empty. */
const planRule = (from: string, { addresses, table, priority }: EgressGateway): IpRule[] =>
  addresses.some(ofFamilyOf(from)) ? [{ kind: 'rule', in: 'host', from, table, priority }] : [];
