/** The packet that a trace is about, and the port that it comes from. Pure. */
import { podMac, TUNNEL_PORT } from '@podwire/network-sdn/description';
import { formatMatch, type KnownFields } from '@podwire/openflow';
import { PodwireError } from '@podwire/errors';
import type { BridgeDump } from '../flows/read.js';
import { findSubject } from '../flows/subject.js';
import type { End } from './names.js';

export interface Question {
  readonly from: End;
  readonly to: End;
  readonly protocol: 'tcp' | 'udp' | 'icmp';
  /** That of the receiver; ICMP has none. */
  readonly port?: number;
  /** The packet comes from another node; from a port of a pod when it is absent. */
  readonly tunnel?: Tunnel;
}

export interface Tunnel {
  /** The address of the node that has sent the packet. */
  readonly source: string;
  /** That of the sender's project. */
  readonly vnid: number;
}

/** A port that Linux gives to a client. */
const CLIENT_PORT = 50_000;

/** The packet as `ofproto/trace` takes it: the first one of a connection, or a request for an echo. */
export function formatPacket({ from, to, protocol, port, tunnel }: Question, inPort: number): string {
  const [source, destination] = [from.address, to.address];
  return formatMatch({
    in_port: inPort,
    ...(tunnel && { tun_src: tunnel.source, tun_id: tunnel.vnid }),
    // A pod knows the MAC addresses of all pods by ARP; no flow looks at that of another receiver.
    ...{ eth_src: podMac(source), eth_dst: podMac(destination), eth_type: 0x0800 },
    ...{ ip_src: source, ip_dst: destination, ip_ttl: 64 },
    ...formatTransport(protocol, port),
  });
}

function formatTransport(protocol: Question['protocol'], port = 0): KnownFields {
  switch (protocol) {
    case 'tcp':
      return { ip_proto: 6, tcp_src: CLIENT_PORT, tcp_dst: port };
    case 'udp':
      return { ip_proto: 17, udp_src: CLIENT_PORT, udp_dst: port };
    case 'icmp':
      // Echo request, RFC 792.
      return { ip_proto: 1, icmp_type: 8, icmp_code: 0 };
  }
}

/**
 * The number of the port that a packet comes from: that of the tunnel, or the one from which flows accept its sender.
 * @param named its name or number, in place of that
 * @throws PodwireError REQUEST_INVALID when there is none, or more than one
 */
export function findInPort(
  { from, tunnel }: Pick<Question, 'from' | 'tunnel'>,
  bridge: string,
  dump: BridgeDump,
  named?: string,
): number {
  if (named !== undefined) return findNamed(named, bridge, dump);
  if (tunnel !== undefined) return TUNNEL_PORT;
  const { ports } = findSubject({ name: from.address, addresses: [from.address] }, dump);
  if (ports.length === 1) return ports[0]!;
  if (ports.length === 0) throw refuseSender(from, bridge);
  const list = ports.join(', ');
  throw new PodwireError(
    'REQUEST_INVALID',
    `bridge ${bridge} accepts packets from ${from.address} at ports ${list}`,
    {
      action: 'Name one of them with --in-port.',
    },
  );
}

function refuseSender({ address, pod, node }: End, bridge: string): PodwireError {
  const whom = pod === undefined ? address : `pod ${pod} (${address}) of ${node}`;
  const action =
    pod === undefined
      ? 'Give the address of a pod of this node, or with --in-port the port that the packet comes from.'
      : `Run the command on ${node}, or name with --in-port the port that the packet comes from.`;
  return new PodwireError('REQUEST_INVALID', `no flow of bridge ${bridge} accepts packets from ${whom}`, {
    action,
  });
}

function findNamed(named: string, bridge: string, { ports }: BridgeDump): number {
  const found = ports.find(({ name, port }) => name === named || String(port) === named)?.port;
  if (typeof found === 'number') return found;
  const names = ports.flatMap(({ name, port }) => (typeof port === 'number' ? [`${name} (${port})`] : []));
  throw new PodwireError(
    'REQUEST_INVALID',
    `bridge ${bridge} has no port ${named}; it has ${names.join(', ')}`,
  );
}
