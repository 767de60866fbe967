/** A small cluster, in data and on fake switches whose tunnels are joined. */
import {
  addFlow,
  connectSwitch,
  type Flow,
  formatFlow,
  type Port,
  type PortDescription,
  type SwitchConnection,
} from '@podwire/openflow';
import { type EvaluateOptions, type Evaluation, FakeSwitch, type PacketFields } from '@podwire/openflow/fake';
import {
  gatewayOf,
  planBridgeFlows,
  planMulticastFlows,
  planMulticastToPeers,
  planPeerFlows,
  planPodFlows,
  planProjectFlows,
  planVersionFlow,
  podMac,
  type Datapath,
  type SdnMode,
  type SdnNode,
  type SdnPeer,
  type SdnPod,
} from '@podwire/network-sdn';

export interface PlacedPod extends SdnPod {
  /** Number of its node, from 1 on. */
  readonly node: number;
}

export interface ClusterOptions {
  readonly mode: SdnMode;
  readonly datapath?: Datapath;
  readonly nodes: number;
  readonly pods: readonly PlacedPod[];
  /** The cluster moves to OVN-Kubernetes. */
  readonly migrates?: boolean;
  /** VNIDs of projects that have it. */
  readonly multicast?: readonly number[];
}

export const SERVICE = '172.30.0.10';
export const OUTSIDE = '198.51.100.7';

export const addressOf = (node: number): string => `192.0.2.${node}`;

export const nodeMac = (node: number): string => `02:00:00:00:01:0${node}`;
export const gatewayMac = (node: number): string => `02:00:00:00:02:0${node}`;

export const nodeOf = (number: number, options: ClusterOptions): SdnNode => ({
  address: addressOf(number),
  subnet: `10.128.${2 * number}.0/23`,
  clusterNetworks: ['10.128.0.0/14'],
  serviceNetwork: '172.30.0.0/16',
  mode: options.mode,
  datapath: options.datapath ?? 'system',
  vxlanPort: 4789,
  ...(options.migrates === true
    ? { migration: { nodeMac: nodeMac(number), gatewayMac: gatewayMac(number) } }
    : {}),
});

export const peerOf = (number: number): SdnPeer => ({
  uid: `uid-of-node-${number}`,
  address: addressOf(number),
  subnet: `10.128.${2 * number}.0/23`,
});

export const gateway = (node: number): string => gatewayOf(peerOf(node).subnet);

/** Pod `index` of a node, from 0 on. */
export const podOf = (node: number, index: number, vnid: number): PlacedPod => ({
  node,
  ip: `10.128.${2 * node}.${index + 2}`,
  port: index + 3,
  vnid,
});

const numbers = ({ nodes }: ClusterOptions): number[] => [...Array(nodes).keys()].map((index) => index + 1);

/** All flows of a node, in the order in which an agent has reason to add them. */
export function planNode(number: number, options: ClusterOptions): Flow[] {
  const node = nodeOf(number, options);
  const pods = options.pods.filter((pod) => pod.node === number);
  const peers = numbers(options)
    .filter((other) => other !== number)
    .map(peerOf);
  const projects = [...new Set(pods.map(({ vnid }) => vnid))];
  return [
    ...planBridgeFlows(node),
    ...peers.flatMap(planPeerFlows),
    planMulticastToPeers(peers),
    ...pods.flatMap((pod) => planPodFlows(node, pod)),
    ...projects.flatMap((vnid) => planProjectFlows(options.mode, vnid)),
    ...(options.multicast ?? []).flatMap((vnid) =>
      planMulticastFlows(
        vnid,
        pods.filter((pod) => pod.vnid === vnid).map(({ port }) => port),
      ),
    ),
    planVersionFlow(options.mode),
  ];
}

const portsOf = (pods: readonly PlacedPod[]): PortDescription[] =>
  [1, 2, ...pods.map(({ port }) => port), HOST_TRACKING].map((port) => ({
    ...{ port, name: `p${port}`, mac: '02:00:00:00:00:01', isDown: false, hasLink: true },
  }));

/**
 * Packets from this port stand for the packet filter of the node, which tracks in the same zone as the kernel's
 * datapath.
 */
const HOST_TRACKING = 99;

/**
 * Where a packet comes out: at a pod's port, at port 2 on the node itself, or at port 1 in a tunnel that leads
 * nowhere.
 */
export interface Arrival {
  readonly node: number;
  readonly port: Port;
  readonly packet: PacketFields;
}

/** Fields that exist in one switch alone, and those that differ from link to link. */
const inside = /^(in_port|reg\d|ct_\w+|tun_\w+|metadata|recirc_id)$/;

/** A packet as it is on the wire. */
export const wireOf = (packet: PacketFields): PacketFields =>
  Object.fromEntries(Object.entries(packet).filter(([name]) => !inside.test(name)));

/** The flows that packets have matched, each with their number. */
export async function countHits(connection: SwitchConnection): Promise<readonly string[]> {
  const entries = await connection.dump('flow');
  return entries
    .filter(({ packets = 0 }) => packets > 0)
    .map(({ flow, packets }) => `${packets} ${formatFlow(flow)}`)
    .sort();
}

export class Cluster {
  readonly datapath: Datapath;
  readonly #switches: ReadonlyMap<number, FakeSwitch>;
  #asked = 0;

  private constructor(switches: ReadonlyMap<number, FakeSwitch>, datapath: Datapath) {
    this.#switches = switches;
    this.datapath = datapath;
  }

  static async create(options: ClusterOptions): Promise<Cluster> {
    const switches = new Map<number, FakeSwitch>();
    for (const number of numbers(options)) {
      const fake = new FakeSwitch({ ports: portsOf(options.pods.filter(({ node }) => node === number)) });
      const connection = await connectSwitch(fake.connect());
      await connection.applyBundle(planNode(number, options).map(addFlow));
      connection.close();
      switches.set(number, fake);
    }
    return new Cluster(switches, options.datapath ?? 'system');
  }

  /** A port of a client for a connection of its own. */
  takeSource(): number {
    return FIRST_SOURCE + this.#asked++;
  }

  evaluate(node: number, packet: PacketFields, options: EvaluateOptions = {}): Evaluation {
    const evaluation = this.#switches.get(node)!.evaluate(packet, options);
    if (evaluation.failures.length > 0) throw new Error(evaluation.failures.join());
    return evaluation;
  }

  /** The flows of a node that packets have matched, each with their number. */
  async countHits(node: number): Promise<readonly string[]> {
    const connection = await connectSwitch(this.#switches.get(node)!.connect());
    const hits = await countHits(connection);
    connection.close();
    return hits;
  }

  /** Sends a packet into a port of a node, and through tunnels, until it comes out everywhere that it does. */
  send(node: number, packet: PacketFields): Arrival[] {
    return this.evaluate(node, packet).outputs.flatMap((out): Arrival[] => {
      const peer = [...this.#switches.keys()].find((number) => addressOf(number) === out.packet.tun_dst);
      if (out.port !== 1 || peer === undefined) return [{ node, port: out.port, packet: out.packet }];
      const { tun_id = 0 } = out.packet;
      return this.send(peer, { ...wireOf(out.packet), in_port: 1, tun_src: addressOf(node), tun_id });
    });
  }

  sendFrom(pod: PlacedPod, packet: PacketFields): Arrival[] {
    return this.send(pod.node, { ...packet, in_port: pod.port });
  }

  /** The service proxy of a node, on the kernel's datapath: the connection is known there with its translation. */
  async translateOnHost(node: number, packet: PacketFields, to: string): Promise<void> {
    const fake = this.#switches.get(node)!;
    const connection = await connectSwitch(fake.connect());
    const nat = { direction: 'dst', addresses: to } as const;
    await connection.applyBundle([
      addFlow({
        ...{ table: 0, priority: 2000, match: { in_port: HOST_TRACKING, eth_type: 0x0800 } },
        actions: [{ type: 'ct', commit: true, nat }],
      }),
    ]);
    connection.close();
    fake.evaluate({ ...wireOf(packet), in_port: HOST_TRACKING });
  }
}

/** Of the first connection of a client. */
export const FIRST_SOURCE = 40_000;

/** A packet of TCP from a client to a server. */
export const tcp = (from: string, to: string, port = 8080, source = FIRST_SOURCE): PacketFields => ({
  ...{ eth_type: 0x0800, ip_proto: 6, ip_ttl: 64, ip_src: from, ip_dst: to, tcp_src: source, tcp_dst: port },
});

/** The packet that the server sends back. */
export const answerTo = (packet: PacketFields): PacketFields => ({
  ...wireOf(packet),
  ...{ ip_src: packet.ip_dst!, ip_dst: packet.ip_src!, tcp_src: packet.tcp_dst!, tcp_dst: packet.tcp_src! },
});

/** A question of ARP, with the MAC address that pods have. */
export const askArp = (from: string, to: string): PacketFields => ({
  ...{ eth_type: 0x0806, arp_op: 1, arp_spa: from, arp_tpa: to, arp_sha: podMac(from) },
  ...{ eth_src: podMac(from), eth_dst: 'ff:ff:ff:ff:ff:ff' },
});

export const placeOf = ({ node, port }: Arrival): string => `${node}:${port}`;
export const home = ({ node, port }: PlacedPod): string => `${node}:${port}`;
export const host = (node: number): string => `${node}:2`;

/**
 * A pod asks a service, the proxy of its node chooses the backend, and the backend answers. Returns the arrivals of
 * the answer, which are none if the question does not get to the backend.
 */
export async function askService(cluster: Cluster, pod: PlacedPod, backend: PlacedPod): Promise<Arrival[]> {
  const question = tcp(pod.ip, SERVICE, 80, cluster.takeSource());
  const atProxy = cluster.sendFrom(pod, question);
  if (atProxy.map(placeOf).join() !== host(pod.node)) throw new Error('the question is not at the proxy');
  if (cluster.datapath === 'system') await cluster.translateOnHost(pod.node, question, backend.ip);
  const [asked] = cluster.send(pod.node, { ...question, ip_dst: backend.ip, in_port: 2 });
  if (asked === undefined) return [];
  if (placeOf(asked) !== home(backend)) throw new Error(`the question is at ${placeOf(asked)}`);
  const answers = cluster.sendFrom(backend, answerTo(asked.packet));
  // With `netdev` the node itself gives an answer the address of the service, and sends it to the pod.
  return cluster.datapath === 'system'
    ? answers
    : answers.flatMap(({ node, port, packet }) =>
        port === 2 ? cluster.send(node, { ...wireOf(packet), ip_src: SERVICE, in_port: 2 }) : [],
      );
}
