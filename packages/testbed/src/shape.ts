/** Shape and topology of a testbed. Pure. */
import { PodwireError } from '@podwire/errors';
import { encapsulations } from '@podwire/network-contract';
import type { PoolInput } from '@podwire/cluster-ipam/operations';

export type Fabric = (typeof encapsulations)[number];
export type Families = 'dual' | 'ipv4' | 'ipv6';
export type StoreKind = 'etcd' | 'embedded';

export const fabrics: readonly Fabric[] = encapsulations;
export const familyChoices: readonly Families[] = ['dual', 'ipv4', 'ipv6'];
export const storeKinds: readonly StoreKind[] = ['etcd', 'embedded'];

/** The network model of the agents. */
export type Model = 'routed' | 'sdn' | 'ovn';
export const modelChoices: readonly Model[] = ['routed', 'sdn', 'ovn'];

/** How the model sdn keeps namespaces apart. */
export type SdnMode = 'subnet' | 'multitenant';
export const sdnModes: readonly SdnMode[] = ['multitenant', 'subnet'];

/** Of the tunnels between nodes of the model ovn. */
export type Encapsulation = 'geneve' | 'vxlan';
export const encapsulationChoices: readonly Encapsulation[] = ['geneve', 'vxlan'];

export interface Shape {
  readonly nodes: number;
  readonly fabric: Fabric;
  readonly families: Families;
  readonly store: StoreKind;
  /** Pods that are created on each node. */
  readonly pods: number;
  /** Number of segments, joined by a router. */
  readonly subnets: number;
  readonly model: Model;
  /** Of the model sdn. Absent in records of version 0.1.0. */
  readonly mode?: SdnMode;
  /** Of the model ovn. Absent in records of version 0.1.0. */
  readonly encapsulation?: Encapsulation;
}

export const defaultName = 'default';

export const defaultShape: Shape = {
  nodes: 3,
  fabric: 'vxlan',
  families: 'dual',
  store: 'etcd',
  pods: 2,
  subnets: 1,
  model: 'routed',
  mode: 'multitenant',
  encapsulation: 'geneve',
};

/** ADDRESS/LENGTH per family. */
export interface FamilyAddresses {
  readonly ipv4?: string;
  readonly ipv6?: string;
}

/** A bridge in the fabric namespace; its own address is the router's. */
export interface Segment {
  readonly name: string;
  readonly bridge: string;
  readonly gateway: FamilyAddresses;
}

export interface PlannedNode {
  readonly name: string;
  readonly segment: Segment;
  /** Its link on the bridge; the node's own end is `eth0`. */
  readonly port: string;
  readonly addresses: FamilyAddresses;
}

export interface Topology {
  readonly families: readonly (4 | 6)[];
  readonly segments: readonly Segment[];
  readonly nodes: readonly PlannedNode[];
  /** An address behind the router, unknown to the nodes. Documentation prefixes (RFC 5737, RFC 3849). */
  readonly outside: FamilyAddresses;
}

/** Bytes: Ethernet's MTU. */
export const segmentMtu = 1500;
/** The network of all agents, and the plugin configuration's name. */
export const networkName = 'default';
export const etcdPort = 2379;
/** The agents' default. */
export const storeRoot = '/podwire';

const limits = { nodes: 200, pods: 100, subnets: 16 } as const;
const namePattern = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

/** @throws PodwireError REQUEST_INVALID naming the wrong field */
export function checkShape(name: string, shape: Shape): void {
  // Socket paths below a directory of this name are limited to 107 characters (unix(7)).
  if (!namePattern.test(name)) refuse(`${JSON.stringify(name)} is no name: up to 32 of a–z, 0–9 and dashes`);
  const whole = (what: keyof typeof limits, least: number): void => {
    const value = shape[what];
    if (Number.isInteger(value) && value >= least && value <= limits[what]) return;
    refuse(`${what} must be a number from ${least} to ${limits[what]}, is ${value}`);
  };
  whole('nodes', 1);
  whole('pods', 0);
  whole('subnets', 1);
  if (shape.subnets > shape.nodes)
    refuse(`${shape.subnets} subnets need as many nodes, there are ${shape.nodes}`);
  if (shape.subnets > 1 && shape.fabric === 'direct')
    refuse('direct routes end at the border of a subnet; take vxlan-cross-subnet for several');
  if (shape.model === 'sdn') checkSdn(shape);
  if (shape.model === 'ovn') checkOvn(shape);
}

function checkSdn({ families, fabric }: Shape): void {
  if (families !== 'ipv4') refuse(`the model sdn has IPv4 alone, families is ${families}`);
  if (fabric !== 'vxlan') refuse(`the model sdn has the fabric vxlan alone, not ${fabric}`);
}

function checkOvn({ families, fabric }: Shape): void {
  if (families === 'ipv6') refuse('tunnels of the model ovn need IPv4, families is ipv6');
  if (fabric !== 'vxlan') refuse(`the model ovn has tunnels of its own, not the fabric ${fabric}`);
}

function refuse(message: string): never {
  throw new PodwireError('REQUEST_INVALID', message);
}

export function planTopology({ nodes, families, subnets }: Shape): Topology {
  const chosen = ([4, 6] as const).filter((family) => families === 'dual' || families === `ipv${family}`);
  const segments = Array.from({ length: subnets }, (_, index) => planSegment(index + 1, chosen));
  return {
    families: chosen,
    segments,
    nodes: Array.from({ length: nodes }, (_, index) => {
      const at = Math.floor((index * subnets) / nodes);
      return planNode(index + 1, at + 1, segments[at]!, chosen);
    }),
    outside: pick(chosen, '198.51.100.1/32', '2001:db8:51::1/128'),
  };
}

const planSegment = (number: number, families: readonly (4 | 6)[]): Segment => ({
  name: `subnet${number}`,
  bridge: `br${number}`,
  gateway: pick(families, `10.10.${number}.1/24`, `fd00:10:${number}::1/64`),
});

const planNode = (
  number: number,
  segmentNumber: number,
  segment: Segment,
  families: readonly (4 | 6)[],
): PlannedNode => ({
  name: `node${number}`,
  segment,
  port: `node${number}`,
  addresses: pick(
    families,
    `10.10.${segmentNumber}.${number + 10}/24`,
    `fd00:10:${segmentNumber}::${number + 10}/64`,
  ),
});

const pick = (families: readonly (4 | 6)[], ipv4: string, ipv6: string): FamilyAddresses => ({
  ...(families.includes(4) ? { ipv4 } : {}),
  ...(families.includes(6) ? { ipv6 } : {}),
});

export const withoutLength = (text: string): string => text.replace(/\/.*/, '');

/** The addresses of all pods. */
export function podRanges(shape: Shape): string[] {
  if (shape.model === 'sdn') return [sdnNetwork.clusterNetwork];
  if (shape.model === 'ovn') return planOvnNetwork(shape).pods;
  return planPools(shape).map(({ cidr }) => cidr);
}

/** Those of OpenShift. */
export const sdnNetwork = {
  clusterNetwork: '10.128.0.0/14',
  hostSubnetLength: 9,
  serviceNetwork: '172.30.0.0/16',
} as const;

/** Those of Kube-OVN 1.8; of IPv6 others, since fd00:10:N:: are the segments. */
const ovnNetwork = {
  pods: { ipv4: '10.16.0.0/16', ipv6: 'fd00:16::/112' },
  join: { ipv4: '100.64.0.0/16', ipv6: 'fd00:100:64::/112' },
} as const;

/** CIDRs of the Subnets ovn-default and join, one of each family. */
export function planOvnNetwork({ families }: Pick<Shape, 'families'>): { pods: string[]; join: string[] } {
  const choose = ({ ipv4, ipv6 }: { ipv4: string; ipv6: string }): string[] =>
    families === 'dual' ? [ipv4, ipv6] : [ipv4];
  return { pods: choose(ovnNetwork.pods), join: choose(ovnNetwork.join) };
}

/** Stored pools. Nodes of the other models have subnets by objects. */
export function planPools({ fabric, families, model }: Shape): PoolInput[] {
  if (model !== 'routed') return [];
  const pool = (name: 'ipv4' | 'ipv6', cidr: string): PoolInput[] =>
    families === 'dual' || families === name
      ? [{ name, network: networkName, cidr, encapsulation: fabric, natOutgoing: true }]
      : [];
  return [...pool('ipv4', '10.244.0.0/16'), ...pool('ipv6', 'fd00:244::/48')];
}

/** `pod2a`: the first of node2. Short, for the columns of a matrix; the node can be read from it. */
export function podName(nodeNumber: number, index: number): string {
  const letters: string[] = [];
  for (let rest = index; rest >= 0; rest = Math.floor(rest / 26) - 1)
    letters.unshift(String.fromCharCode(97 + (rest % 26)));
  return `pod${nodeNumber}${letters.join('')}`;
}
