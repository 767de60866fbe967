/** Conditions of a compiled rule as statements of nftables. */
import type { NftElement, NftSet } from '@podwire/backend-linux/resources';
import type { CompiledRule, CompiledSet, IcmpMatch, PortRange, SetId, SetMatch } from '@podwire/policy';
import { digest, element, portedSet, set, setName, type Statement } from './names.js';

/** All of its statements must hold. */
export type Condition = readonly Statement[];
/** Any of the conditions must hold: each becomes a rule of its own. */
export type Alternatives = readonly Condition[];

export interface Matches {
  readonly alternatives: Alternatives;
  /** Sets that hold ports of the rule. */
  readonly constants: readonly (NftSet | NftElement)[];
}

export type FindSet = (id: SetId) => CompiledSet | undefined;

type Protocol = CompiledRule['protocol'];
type PortField = 'th sport' | 'th dport';

const always: Alternatives = [[]];
const never: Alternatives = [];
const numbers = { tcp: 6, udp: 17, sctp: 132 } as const;
const ICMP = 1;
const ICMPV6 = 58;

/** Ports that stand alone share a set when there are more of them than this: each would be a rule. */
const fewPorts = 3;

/** @throws RangeError for a set that is not there */
export function matchesOf(rule: CompiledRule, find: FindSet): Matches {
  const constants: (NftSet | NftElement)[] = [];
  const parts: Alternatives[] = [
    familyOf(rule),
    protocolOf(rule),
    icmpOf(rule),
    notIcmpOf(rule),
    portsOf('th sport', rule.sourcePorts, rule.protocol, constants),
    portsOf('th dport', rule.destinationPorts, rule.protocol, constants),
    notPortsOf('th sport', rule.notSourcePorts, rule.protocol),
    notPortsOf('th dport', rule.notDestinationPorts, rule.protocol),
    [rule.source.map((match) => lookup(match, 'saddr', find))],
    [rule.destination.map((match) => lookup(match, 'daddr', find))],
  ];
  return { alternatives: parts.reduce(combine, always), constants };
}

const combine = (left: Alternatives, right: Alternatives): Alternatives =>
  left.flatMap((one) => right.map((other) => [...one, ...other]));

/** A look at an address says the family by itself. */
function familyOf({ family, source, destination }: CompiledRule): Alternatives {
  if (family === undefined || source.length + destination.length > 0) return always;
  return [[{ is: 'match', field: 'nfproto', value: `ipv${family}` }]];
}

const numberOf = (protocol: NonNullable<Protocol>): number =>
  typeof protocol === 'number' ? protocol : numbers[protocol];

const hasPorts = (protocol: NonNullable<Protocol>): boolean =>
  (Object.values(numbers) as number[]).includes(numberOf(protocol));

const isProtocol = (protocol: NonNullable<Protocol>): Statement => ({
  is: 'match',
  field: 'l4proto',
  value: protocol,
});
const isNotProtocol = (protocol: NonNullable<Protocol>): Statement => ({
  ...{ is: 'match', field: 'l4proto', op: '!=', value: protocol },
});

const protocolOf = ({ protocol, notProtocol }: CompiledRule): Alternatives => [
  [
    ...(protocol === undefined ? [] : [isProtocol(protocol)]),
    ...(notProtocol === undefined ? [] : [isNotProtocol(notProtocol)]),
  ],
];

/** The versions of ICMP that a rule can be about. */
function icmpVersions({ protocol, family }: CompiledRule): readonly (4 | 6)[] {
  const all = [4, 6] as const;
  return all.filter(
    (version) =>
      (family === undefined || family === version) &&
      (protocol === undefined || numberOf(protocol) === icmpNumber(version)),
  );
}

const icmpNumber = (version: 4 | 6): number => (version === 4 ? ICMP : ICMPV6);

function icmpOf(rule: CompiledRule): Alternatives {
  const { icmp } = rule;
  if (icmp === undefined) return always;
  return icmpVersions(rule).map((version) => {
    const fields = icmpFields(version, icmp);
    const needsProtocol = fields.length === 0 && rule.protocol === undefined;
    return needsProtocol ? [isProtocol(icmpNumber(version))] : fields;
  });
}

function notIcmpOf(rule: CompiledRule): Alternatives {
  const { notIcmp, protocol } = rule;
  if (notIcmp === undefined) return always;
  const versions = icmpVersions(rule);
  const others: Condition[] =
    protocol === undefined || versions.length === 0
      ? [versions.map((version) => isNotProtocol(icmpNumber(version)))]
      : [];
  return [...others, ...versions.flatMap((version) => otherThan(icmpFields(version, notIcmp)))];
}

function icmpFields(version: 4 | 6, { type, code }: IcmpMatch): Statement[] {
  const name = version === 4 ? 'icmp' : 'icmpv6';
  return [
    ...(type === undefined ? [] : [{ is: 'match', field: `${name} type`, value: type } as const]),
    ...(code === undefined ? [] : [{ is: 'match', field: `${name} code`, value: code } as const]),
  ];
}

/** Not all of the conditions hold: the first that does not, behind those that do. */
const otherThan = (conditions: readonly Statement[]): Condition[] =>
  conditions.map((condition, index) => [
    ...conditions.slice(0, index),
    { ...condition, op: '!=' } as Statement,
  ]);

const isPorted: Statement = { is: 'lookup', fields: ['l4proto'], set: portedSet };

function portsOf(
  field: PortField,
  ranges: readonly PortRange[] | undefined,
  protocol: Protocol,
  constants: (NftSet | NftElement)[],
): Alternatives {
  if (ranges === undefined) return always;
  if (protocol !== undefined && !hasPorts(protocol)) return never;
  const guard = protocol === undefined ? [isPorted] : [];
  const single = ranges.filter(({ first, last }) => first === last).map(({ first }) => first);
  const many = single.length > fewPorts;
  const wide = many ? ranges.filter(({ first, last }) => first !== last) : ranges;
  const inSet = many ? [lookupPort(field, single, constants)] : [];
  return [...inSet, ...wide.map((range) => inRange(field, range))].map((statement) => [...guard, statement]);
}

function lookupPort(
  field: PortField,
  ports: readonly number[],
  constants: (NftSet | NftElement)[],
): Statement {
  const members = [...new Set(ports)].sort((a, b) => a - b);
  const name = `ports-${digest(members.join())}`;
  constants.push(
    set({ name, key: ['inet_service'] }),
    ...members.map((value) => element(name, [{ type: 'inet_service', value }])),
  );
  return { is: 'lookup', fields: [field], set: name };
}

const inRange = (field: PortField, { first, last }: PortRange): Statement =>
  first === last ? { is: 'match', field, value: first } : { is: 'range', field, first, last };

/** A packet without ports has none of them. */
function notPortsOf(
  field: PortField,
  ranges: readonly PortRange[] | undefined,
  protocol: Protocol,
): Alternatives {
  if (ranges === undefined || (protocol !== undefined && !hasPorts(protocol))) return always;
  const outside = ranges.map((range) => ({ ...inRange(field, range), op: '!=' }) as Statement);
  if (protocol !== undefined) return [outside];
  return [[{ ...isPorted, negate: true } as Statement], [isPorted, ...outside]];
}

function lookup({ set: id, negate = false }: SetMatch, side: 'saddr' | 'daddr', find: FindSet): Statement {
  const found = find(id);
  if (found === undefined) throw new RangeError(`a rule looks into the set ${id}, which is not there`);
  const address = `${found.family === 4 ? 'ip' : 'ip6'} ${side}` as const;
  return {
    is: 'lookup',
    fields: found.type === 'ports' ? [address, 'l4proto', 'th dport'] : [address],
    set: setName(found),
    ...(negate ? { negate } : {}),
  };
}
