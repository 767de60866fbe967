/** Conditions on protocol, ports and ICMP of a rule, as alternatives that a packet filter can say. */
import type { PolicyProtocol } from '../model/facts.js';
import type { PortRange, Rule, Service } from '../model/policy.js';
import type { CompiledRule } from './contract.js';

export interface NamedPortMatch {
  readonly name: string;
  readonly protocol?: PolicyProtocol | undefined;
}

/** A condition that no list of rules of a packet filter can say. The policy is broken then. */
export class Inexpressible extends Error {}

/** One alternative: all that is there must hold. `named`: any of them; `notNamed`: none. */
export interface ServiceMatch extends Pick<
  CompiledRule,
  | 'family'
  | 'protocol'
  | 'notProtocol'
  | 'sourcePorts'
  | 'notSourcePorts'
  | 'destinationPorts'
  | 'notDestinationPorts'
  | 'icmp'
  | 'notIcmp'
> {
  readonly named?: readonly NamedPortMatch[] | undefined;
  readonly notNamed?: readonly NamedPortMatch[] | undefined;
}

type Protocol = PolicyProtocol | number;

const withPorts: readonly PolicyProtocol[] = ['tcp', 'udp', 'sctp'];
const names: ReadonlyMap<number, PolicyProtocol> = new Map([
  [6, 'tcp'],
  [17, 'udp'],
  [132, 'sctp'],
]);
const icmp4 = 1;
const icmp6 = 58;

/**
 * Any of the alternatives; none: nothing matches. Conditions on ports, negated ones too, hold for packets that have ports only, and those on
 * ICMP for ICMP only.
 * @throws Inexpressible for combinations of negations that no single rule can say
 */
export function matchServices(rule: Rule): ServiceMatch[] {
  let matches = rule.services === undefined ? [{}] : matchAny(rule.services);
  if (rule.sourcePorts !== undefined || rule.notSourcePorts !== undefined)
    matches = matches.flatMap(requirePorts).map((match) => addSourcePorts(match, rule));
  if (rule.icmp !== undefined || rule.notIcmp !== undefined)
    matches = matches
      .flatMap(requireIcmp)
      .map((match) => ({ ...match, icmp: rule.icmp, notIcmp: rule.notIcmp }));
  for (const service of rule.notServices ?? []) matches = matches.flatMap((match) => exclude(match, service));
  return matches.filter(
    ({ destinationPorts, sourcePorts }) => destinationPorts?.length !== 0 && sourcePorts?.length !== 0,
  );
}

/** Ports of one protocol become one list, named ports of all services one set. */
function matchAny(services: readonly Service[]): ServiceMatch[] {
  const ports = new Map<Protocol, PortRange[] | 'all'>();
  const named: NamedPortMatch[] = [];
  for (const service of services) {
    const protocol = nameProtocol(service.protocol);
    for (const name of service.namedPorts ?? []) named.push(...nameOf(name, protocol));
    if (service.ports === undefined && service.namedPorts !== undefined) continue;
    for (const each of protocol === undefined ? withPorts : [protocol])
      ports.set(each, joinPorts(ports.get(each) ?? [], service.ports ?? 'all', each));
  }
  const byNumber = [...ports].map(([protocol, each]) =>
    each === 'all' ? { protocol } : { protocol, destinationPorts: mergePorts(each) },
  );
  return named.length === 0 ? byNumber : [...byNumber, { named }];
}

/** A protocol without ports has none by name. */
const nameOf = (name: string, protocol: Protocol | undefined): NamedPortMatch[] =>
  typeof protocol === 'number' ? [] : [{ name, protocol }];

function joinPorts(
  known: PortRange[] | 'all',
  more: readonly PortRange[] | 'all',
  protocol: Protocol,
): PortRange[] | 'all' {
  if (known === 'all' || more === 'all') return 'all';
  return typeof protocol === 'number' ? known : [...known, ...more];
}

const nameProtocol = (protocol: Protocol | undefined): Protocol | undefined =>
  typeof protocol === 'number' ? (names.get(protocol) ?? protocol) : protocol;

/** In order, none touching the next. */
export function mergePorts(ranges: readonly PortRange[]): PortRange[] {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

function requirePorts(match: ServiceMatch): ServiceMatch[] {
  if (match.protocol === undefined) return withPorts.map((protocol) => ({ ...match, protocol }));
  return typeof match.protocol === 'number' ? [] : [match];
}

const addSourcePorts = (match: ServiceMatch, { sourcePorts, notSourcePorts }: Rule): ServiceMatch => ({
  ...match,
  ...(sourcePorts !== undefined && { sourcePorts: mergePorts(sourcePorts) }),
  ...(notSourcePorts !== undefined &&
    notSourcePorts.length > 0 && { notSourcePorts: mergePorts(notSourcePorts) }),
});

function requireIcmp(match: ServiceMatch): ServiceMatch[] {
  if (match.named !== undefined) return [];
  const wanted = match.protocol === undefined ? [icmp4, icmp6] : [match.protocol];
  return wanted
    .filter((protocol) => protocol === icmp4 || protocol === icmp6)
    .map((protocol) => ({ ...match, protocol, family: protocol === icmp4 ? 4 : 6 }));
}

function exclude(match: ServiceMatch, service: Service): ServiceMatch[] {
  const protocol = nameProtocol(service.protocol);
  const notNamed = (service.namedPorts ?? []).flatMap((name) => nameOf(name, protocol));
  const rest =
    notNamed.length === 0 ? match : { ...match, notNamed: [...(match.notNamed ?? []), ...notNamed] };
  if (service.ports === undefined && service.namedPorts !== undefined) return [rest];
  const excluded = protocol === undefined ? withPorts : [protocol];
  return excluded.reduce<ServiceMatch[]>(
    (matches, each) => matches.flatMap((one) => excludeProtocol(one, each, service.ports)),
    [rest],
  );
}

function excludeProtocol(
  match: ServiceMatch,
  protocol: Protocol,
  ports: readonly PortRange[] | undefined,
): ServiceMatch[] {
  if (ports?.length === 0 || (ports !== undefined && typeof protocol === 'number')) return [match];
  if (match.protocol === undefined) {
    const others = excludeAll(match, protocol);
    return ports === undefined ? [others] : [others, ...excludePorts({ ...match, protocol }, ports)];
  }
  if (match.protocol !== protocol) return [match];
  return ports === undefined ? [] : excludePorts(match, ports);
}

function excludeAll(match: ServiceMatch, protocol: Protocol): ServiceMatch {
  if (match.notProtocol !== undefined && match.notProtocol !== protocol)
    throw new Inexpressible('a rule cannot exclude several protocols while it names none');
  return { ...match, notProtocol: protocol };
}

function excludePorts(match: ServiceMatch, ports: readonly PortRange[]): ServiceMatch[] {
  if (match.notProtocol === match.protocol) return [];
  const { notProtocol: _, ...rest } = match;
  return [{ ...rest, notDestinationPorts: mergePorts([...(match.notDestinationPorts ?? []), ...ports]) }];
}
