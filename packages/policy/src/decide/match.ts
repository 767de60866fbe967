/** Matches a rule of the compiled form with one connection, as a packet filter does. */
import { type Family, familyOf, formatPrefix, parseAddress, prefixOf, addressBits } from '@podwire/addresses';
import type { IcmpMatch, PortRange } from '../model/policy.js';
import type { Connection } from '../compile/compiler-contract.js';
import type { CompiledRule, CompiledState, SetMatch } from '../compile/contract.js';

type Sets = CompiledState['sets'];

export function matchesRule(rule: CompiledRule, connection: Connection, sets: Sets): boolean {
  if (rule.family !== undefined && rule.family !== familyOf(connection.source)) return false;
  return (
    matchesProtocol(rule, connection) &&
    matchesPorts(rule, connection) &&
    matchesIcmp(rule, connection) &&
    rule.source.every((match) => matchesSet(match, connection, 'source', sets)) &&
    rule.destination.every((match) => matchesSet(match, connection, 'destination', sets))
  );
}

const numbers: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132 };
const namesByNumber = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));

const numberOf = (protocol: string | number): number | undefined =>
  typeof protocol === 'number' ? protocol : numbers[protocol];

function matchesProtocol({ protocol, notProtocol }: CompiledRule, connection: Connection): boolean {
  const own = numberOf(connection.protocol);
  if (protocol !== undefined && own !== numberOf(protocol)) return false;
  return notProtocol === undefined || own !== numberOf(notProtocol);
}

function matchesPorts(rule: CompiledRule, { sourcePort, destinationPort }: Connection): boolean {
  return (
    includesPort(rule.sourcePorts, sourcePort) !== false &&
    includesPort(rule.notSourcePorts, sourcePort) !== true &&
    includesPort(rule.destinationPorts, destinationPort) !== false &&
    includesPort(rule.notDestinationPorts, destinationPort) !== true
  );
}

/** Undefined: there is no such condition. */
const includesPort = (
  ranges: readonly PortRange[] | undefined,
  port: number | undefined,
): boolean | undefined =>
  ranges?.some(({ first, last }) => port !== undefined && port >= first && port <= last);

function matchesIcmp({ icmp, notIcmp }: CompiledRule, connection: Connection): boolean {
  if (icmp !== undefined && !isIcmp(icmp, connection)) return false;
  return notIcmp === undefined || !isIcmp(notIcmp, connection);
}

const isIcmp = ({ type, code }: IcmpMatch, { icmpType, icmpCode }: Connection): boolean =>
  (type === undefined || type === icmpType) && (code === undefined || code === icmpCode);

function matchesSet(
  { set: id, negate }: SetMatch,
  connection: Connection,
  side: 'source' | 'destination',
  sets: Sets,
): boolean {
  const found = sets.get(id);
  if (found === undefined) throw new Error(`the set ${id} of a compiled rule is missing`);
  const { set, members } = found;
  const address = connection[side];
  const includes = set.family === familyOf(address) && includesMember(set.type, members, address, connection);
  return includes !== (negate === true);
}

function includesMember(
  type: string,
  members: ReadonlySet<string>,
  address: string,
  connection: Connection,
): boolean {
  if (type === 'addresses') return members.has(address);
  if (type === 'nets') return includesAddress(members, address);
  const { protocol, destinationPort } = connection;
  const name = typeof protocol === 'number' ? (namesByNumber.get(protocol) ?? protocol) : protocol;
  return destinationPort !== undefined && members.has(`${address},${name},${destinationPort}`);
}

/** Asks for each prefix that the address lies in: no slower for large sets. */
function includesAddress(members: ReadonlySet<string>, text: string): boolean {
  const address = parseAddress(text);
  const longest: number = addressBits(address.family satisfies Family);
  for (let length = 0; length <= longest; length++)
    if (members.has(formatPrefix(prefixOf(address, length)))) return true;
  return false;
}
