import type { PortRange, Service } from '../model/policy.js';

type Protocol = Service['protocol'];

/** One port of a rule: numbers, a name, or neither for all ports of the protocol. */
export interface PortEntry {
  readonly protocol: Protocol;
  readonly range?: PortRange | undefined;
  readonly name?: string | undefined;
}

/**
 * Ports by protocol, in as few services as there can be: what comes of each costs a rule. Names stand apart from numbers, since
 * they are looked up at the destination.
 */
export function groupPorts(entries: readonly PortEntry[]): Service[] {
  const protocols = [...new Set(entries.map(({ protocol }) => protocol))];
  return protocols.flatMap((protocol) =>
    toServices(
      protocol,
      entries.filter((entry) => entry.protocol === protocol),
    ),
  );
}

function toServices(protocol: Protocol, entries: readonly PortEntry[]): Service[] {
  const own = protocol === undefined ? {} : { protocol };
  if (entries.some(({ range, name }) => range === undefined && name === undefined)) return [own];
  const ports = entries.flatMap(({ range }) => (range === undefined ? [] : [range]));
  const namedPorts = [...new Set(entries.flatMap(({ name }) => (name === undefined ? [] : [name])))];
  return [
    ...(ports.length === 0 ? [] : [{ ...own, ports }]),
    ...(namedPorts.length === 0 ? [] : [{ ...own, namedPorts }]),
  ];
}

const protocols = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

/** As Kubernetes writes them. */
export const toProtocol = (word: keyof typeof protocols) => protocols[word];

export const portRange = (first: number, last = first): PortRange => ({ first, last });
