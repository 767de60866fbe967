/** The packet that a trace is about, and the port that it comes from. Pure. */
import { podMac } from '@podwire/network-sdn/description';
import { formatMatch, type KnownFields } from '@podwire/openflow';
import { PodwireError } from '@podwire/errors';
import type { BridgeDump } from '../flows/read.js';
import { findSubject } from '../flows/subject.js';

export interface Question {
  /** IPv4 addresses. */
  readonly from: string;
  readonly to: string;
  readonly protocol: 'tcp' | 'udp' | 'icmp';
  /** That of the receiver; ICMP has none. */
  readonly port?: number;
}

/** A port that Linux gives to a client. */
const CLIENT_PORT = 50_000;

/** The packet as `ofproto/trace` takes it: the first one of a connection, or a request for an echo. */
export function formatPacket({ from, to, protocol, port }: Question, inPort: number): string {
  return formatMatch({
    in_port: inPort,
    // A pod knows the MAC addresses of all pods by ARP; no flow looks at that of another receiver.
    ...{ eth_src: podMac(from), eth_dst: podMac(to), eth_type: 0x0800 },
    ...{ ip_src: from, ip_dst: to, ip_ttl: 64 },
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
 * The number of the port that a packet comes from: the one from which flows accept its sender.
 * @param named its name or number, in place of that
 * @throws PodwireError REQUEST_INVALID when there is none, or more than one
 */
export function findInPort(from: string, bridge: string, dump: BridgeDump, named?: string): number {
  if (named !== undefined) return findNamed(named, bridge, dump);
  const { ports } = findSubject({ name: from, addresses: [from] }, dump);
  if (ports.length === 1) return ports[0]!;
  if (ports.length === 0)
    throw new PodwireError('REQUEST_INVALID', `no flow of bridge ${bridge} accepts packets from ${from}`, {
      action:
        'Give the address of a pod of this node, or with --in-port the port that the packet comes from.',
    });
  const list = ports.join(', ');
  throw new PodwireError(
    'REQUEST_INVALID',
    `bridge ${bridge} accepts packets from ${from} at ports ${list}`,
    {
      action: 'Name one of them with --in-port.',
    },
  );
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
