/**
 * Processes of the node that a pod's host port hides: the packet filter comes before any socket, so what they listen for
 * goes to the pod. Kubernetes' portmap takes such ports, too; here it is a warning (decision 35).
 */
import { parseAddress } from '@podwire/addresses';
import { endpointKey } from '@podwire/network-contract';
import { type HostPortClaim, hostPortClaims } from '@podwire/network-traffic';
import type { BoundSocket } from '@podwire/netlink';
import type { Log } from '../log.js';
import { describeEndpoint } from './registry.js';
import type { EndpointRecord } from '../records/record.js';

/** Sockets of the node that wait for others: TCP that listens, UDP that has a port. */
export type ReadSockets = (protocol: BoundSocket['protocol']) => readonly BoundSocket[];

/** Sources of warnings; without sockets there are none. */
export interface WarningSources {
  readonly readSockets?: ReadSockets;
  readonly log: Log;
}

/** Reads the sockets once for all of the records, and not at all where none has a host port. Never throws. */
export function findWarnings(
  sources: WarningSources,
  records: readonly EndpointRecord[],
): (key: string) => string[] {
  const wanted = records.filter(
    ({ endpoint, phase }) => endpoint.portMappings.length > 0 && phase === 'ready',
  );
  if (wanted.length === 0) return () => [];
  const claims = new Map(wanted.map((record) => [endpointKey(record.id), claimsOf(record)]));
  const sockets = readSockets(sources, [...claims.values()].flat());
  return (key) => describeHidden(claims.get(key) ?? [], sockets);
}

/** Says in the log what a new pod hides. */
export function logWarnings(sources: WarningSources, record: EndpointRecord): void {
  for (const warning of findWarnings(sources, [record])(endpointKey(record.id)))
    sources.log.warn({ endpoint: endpointKey(record.id) }, `${describeEndpoint(record)}: ${warning}`);
}

const claimsOf = (record: EndpointRecord): HostPortClaim[] =>
  hostPortClaims({ ...record, mac: record.endpoint.mac, portMappings: record.endpoint.portMappings });

/** A kernel that does not tell is no reason to fail what was asked. */
function readSockets(
  { readSockets, log }: WarningSources,
  claims: readonly HostPortClaim[],
): readonly BoundSocket[] {
  const asked = new Set(claims.map(({ protocol }) => protocol));
  try {
    return (['tcp', 'udp'] as const).flatMap((protocol) =>
      asked.has(protocol) ? (readSockets?.(protocol) ?? []) : [],
    );
  } catch (err) {
    log.debug({ err }, 'the sockets of the node cannot be read');
    return [];
  }
}

/** One sentence for each port, however many sockets and families it concerns. */
function describeHidden(claims: readonly HostPortClaim[], sockets: readonly BoundSocket[]): string[] {
  const hidden = new Map<string, Set<string>>();
  for (const claim of claims) {
    const port = `${claim.port}/${claim.protocol}`;
    for (const socket of sockets.filter((each) => isHidden(claim, each)))
      hidden.set(port, (hidden.get(port) ?? new Set()).add(describePlace(socket)));
  }
  return [...hidden].map(([port, places]) => {
    const [number, protocol] = port.split('/');
    const program = `\`ss -lnp${protocol === 'udp' ? 'u' : 't'} sport = :${number}\``;
    return `host port ${port} hides a process of this node that listens on ${[...places].join(' and ')}; ${program} names it`;
  });
}

const describePlace = ({ family, address, port }: BoundSocket): string =>
  family === 4 ? `${address}:${port}` : `[${address}]:${port}`;

/** By the rule of bind(2). A socket on `::` takes IPv4 as well, unless it is told not to. */
export function isHidden(claim: HostPortClaim, socket: BoundSocket): boolean {
  if (socket.protocol !== claim.protocol || socket.port !== claim.port) return false;
  const { family, address } = plainPlace(socket);
  const isAny = parseAddress(address).value === 0n;
  if (family !== claim.family) return family === 6 && isAny && !socket.v6Only;
  return isAny || claim.address === undefined || claim.address === address;
}

/** IPv4 in an IPv6 socket: `::ffff:192.0.2.1`. */
function plainPlace({ family, address }: BoundSocket): Pick<BoundSocket, 'family' | 'address'> {
  const mapped = family === 6 ? parseAddress(address).value : 0n;
  if (mapped >> 32n !== 0xffffn) return { family, address };
  const bytes = [24n, 16n, 8n, 0n].map((shift) => (mapped >> shift) & 0xffn);
  return { family: 4, address: bytes.join('.') };
}
