/** Ends of the ways of packets through the tables, in words. */
import { HOST_PORT, TUNNEL_PORT } from '../ports.js';
import { tables } from './tables.js';

/** Names of what flows have as numbers and addresses; what is not known has none. */
export interface FlowNames {
  /** The projects that have a VNID. */
  readonly projects?: ((vnid: number) => readonly string[]) | undefined;
  /** The node that sends and receives tunnel packets at an address. */
  readonly node?: ((address: string) => string | undefined) | undefined;
  /** The pod that has an address. */
  readonly pod?: ((address: string) => string | undefined) | undefined;
}

interface PacketWay {
  readonly source: string;
  readonly destination: string;
  /** The number of the port that the packet came from. */
  readonly inPort: number;
  /** VNIDs of sender and receiver: the registers 0 and 1 at the end. */
  readonly senderVnid: number;
  readonly receiverVnid: number;
  /** The last table that the packet came to. */
  readonly table: number;
  readonly names?: FlowNames | undefined;
}

/** A packet that has left the bridge. */
export interface PacketOutput extends PacketWay {
  readonly port: number;
  /** The name of that port, where it is known. */
  readonly portName?: string | undefined;
  /** Where the tunnel leads, and the VNID there; that of the sender when it is absent. */
  readonly tunnelDestination?: string | undefined;
  readonly tunnelId?: number | undefined;
  /** The name of the node that the bridge belongs to. */
  readonly nodeName?: string | undefined;
}

/** `VNID 42 (shop)`; a VNID may have several projects. */
export function describeVnid(vnid: number, { projects }: FlowNames = {}): string {
  const found = projects?.(vnid) ?? [];
  const [first, second, ...more] = found;
  if (first === undefined) return `VNID ${vnid}`;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return `VNID ${vnid} (${second === undefined ? first : `${first}, ${second}`}${others})`;
}

/** `n2 (192.0.2.2)`, or `node 192.0.2.2`. */
export function describeNode(address: string, { node }: FlowNames = {}): string {
  const name = node?.(address);
  return name === undefined ? `node ${address}` : `${name} (${address})`;
}

/** Explains by which way a packet has left the bridge, as a sentence without a subject. */
export function describeOutput(output: PacketOutput): string {
  const { port, table, tunnelDestination, senderVnid, tunnelId = senderVnid, names } = output;
  if (port === HOST_PORT) return describeHost(table);
  if (port !== TUNNEL_PORT) return describeDelivery(output);
  const target = tunnelDestination === undefined ? 'an unknown node' : describeNode(tunnelDestination, names);
  return `sent through the tunnel to ${target}, with ${describeVnid(tunnelId, names)}`;
}

function describeDelivery({ port, portName, destination, nodeName, names }: PacketOutput): string {
  const pod = names?.pod?.(destination);
  const place = `port ${port}${portName === undefined ? '' : ` (${portName})`}`;
  const node = nodeName === undefined ? '' : ` of ${nodeName}`;
  return `delivered to ${pod === undefined ? '' : `pod ${pod} at `}${place}${node}`;
}

function describeHost(table: number): string {
  switch (table) {
    case tables.toService:
      return 'sent through tun0 to the service proxy of this node';
    case tables.nodeDns:
      return 'sent through tun0 to the DNS server of this node';
    case tables.egressPolicy:
    case tables.egress:
      return 'sent out of the cluster through tun0';
    default:
      return 'sent through tun0 to this node itself';
  }
}

/** Explains the lack of a flow for which a table drops a packet; undefined where the table itself says enough. */
export function describeDrop(way: PacketWay): string | undefined {
  const { source, destination, inPort, names } = way;
  const [sender, receiver] = [way.senderVnid, way.receiverVnid].map((vnid) => describeVnid(vnid, names));
  switch (way.table) {
    case tables.fromPeer:
      return 'the tunnel comes from no known node';
    case tables.fromPod:
      return `no flow accepts packets from ${source} at port ${inPort}`;
    case tables.toPod:
      return `no pod of this node has the address ${destination}`;
    case tables.ingressRules:
      return `no flow lets ${sender} reach ${receiver}`;
    case tables.toPeer:
      return `no known node has the address ${destination} in its subnet`;
    case tables.multicastFromPod:
      return `the project of ${sender} has no multicast`;
    default:
      return undefined;
  }
}
