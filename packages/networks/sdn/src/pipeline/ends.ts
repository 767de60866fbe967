/** Ends of the ways of packets through the tables, in words. */
import { HOST_PORT, TUNNEL_PORT } from '../ports.js';
import { tables } from './tables.js';

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
}

/** A packet that has left the bridge. */
export interface PacketOutput extends PacketWay {
  readonly port: number;
  /** The name of that port, where it is known. */
  readonly portName?: string | undefined;
  /** Where the tunnel leads. */
  readonly tunnelDestination?: string | undefined;
}

/** Explains by which way a packet has left the bridge, as a sentence without a subject. */
export function describeOutput(output: PacketOutput): string {
  const { port, portName, table, tunnelDestination = 'an unknown address', senderVnid } = output;
  if (port === TUNNEL_PORT)
    return `sent through the tunnel to node ${tunnelDestination}, with VNID ${senderVnid}`;
  if (port === HOST_PORT) return describeHost(table);
  return `delivered to port ${port}${portName === undefined ? '' : ` (${portName})`}`;
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
  const { source, destination, inPort, senderVnid, receiverVnid } = way;
  switch (way.table) {
    case tables.fromPeer:
      return 'the tunnel comes from no known node';
    case tables.fromPod:
      return `no flow accepts packets from ${source} at port ${inPort}`;
    case tables.toPod:
      return `no pod of this node has the address ${destination}`;
    case tables.ingressRules:
      return `no flow lets VNID ${senderVnid} reach VNID ${receiverVnid}`;
    case tables.toPeer:
      return `no known node has the address ${destination} in its subnet`;
    case tables.multicastFromPod:
      return `the project of VNID ${senderVnid} has no multicast`;
    default:
      return undefined;
  }
}
