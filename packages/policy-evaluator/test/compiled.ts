/**
 * The compiled form, decided as its types say, and deltas added up as they say. Written apart from the compiler's own `decide`, so
 * that both are tested.
 */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type {
  CompiledDelta,
  CompiledDirection,
  CompiledEndpoint,
  CompiledPolicy,
  CompiledRule,
  CompiledSet,
  CompiledState,
  IcmpMatch,
  PolicyProtocol,
  PortRange,
  SetMatch,
} from '@podwire/policy';
import type { Packet } from '../src/packet.js';

const numbers = { tcp: 6, udp: 17, sctp: 132 } as const;
const names = new Map<number, PolicyProtocol>([
  [6, 'tcp'],
  [17, 'udp'],
  [132, 'sctp'],
]);

type Verdict = 'allow' | 'deny';

export function decideCompiled(
  state: CompiledState,
  endpoint: CompiledEndpoint,
  direction: 'ingress' | 'egress',
  packet: Packet,
): Verdict {
  const { tiers, profiles, end }: CompiledDirection = endpoint[direction];
  for (const tier of tiers) {
    const policies = tier.policies.filter((id) => isNormal(state, id));
    if (policies.length === 0) continue;
    const action = actOfAny(state, policies, direction, packet) ?? tier.end;
    if (action !== 'pass') return action;
  }
  const action = actOfAny(state, profiles, direction, packet);
  return action === undefined || action === 'pass' ? end : action;
}

/** The others look at packets of host endpoints before routing, or without tracking. */
const isNormal = (state: CompiledState, id: string): boolean =>
  ['normal', 'forward'].includes(state.policies.get(id)?.hostMode ?? 'normal');

function actOfAny(
  state: CompiledState,
  ids: readonly string[],
  direction: 'ingress' | 'egress',
  packet: Packet,
): Verdict | 'pass' | undefined {
  for (const id of ids) {
    const policy = state.policies.get(id);
    if (policy === undefined) throw new Error(`an endpoint names the policy ${id}, which is not there`);
    if (policy.broken !== undefined) return 'deny';
    const action = actOf(state, policy[direction] ?? [], packet);
    if (action !== undefined) return action;
  }
  return undefined;
}

function actOf(
  state: CompiledState,
  rules: readonly CompiledRule[],
  packet: Packet,
): Verdict | 'pass' | undefined {
  for (const rule of rules) if (rule.action !== 'log' && matches(state, rule, packet)) return rule.action;
  return undefined;
}

function matches(state: CompiledState, rule: CompiledRule, packet: Packet): boolean {
  const { source, destination, protocol, icmp } = packet;
  return (
    (rule.family === undefined || rule.family === packet.family) &&
    (rule.protocol === undefined || numberOf(rule.protocol) === protocol) &&
    (rule.notProtocol === undefined || numberOf(rule.notProtocol) !== protocol) &&
    (rule.sourcePorts === undefined || isIn(rule.sourcePorts, source.port)) &&
    (rule.notSourcePorts === undefined || !isIn(rule.notSourcePorts, source.port)) &&
    (rule.destinationPorts === undefined || isIn(rule.destinationPorts, destination.port)) &&
    (rule.notDestinationPorts === undefined || !isIn(rule.notDestinationPorts, destination.port)) &&
    (rule.icmp === undefined || isIcmp(rule.icmp, icmp)) &&
    (rule.notIcmp === undefined || !isIcmp(rule.notIcmp, icmp)) &&
    rule.source.every((match) => holds(state, match, rule, source.address, packet)) &&
    rule.destination.every((match) => holds(state, match, rule, destination.address, packet))
  );
}

const numberOf = (protocol: PolicyProtocol | number): number =>
  typeof protocol === 'number' ? protocol : numbers[protocol];

const isIn = (ranges: readonly PortRange[], port: number | undefined): boolean =>
  port !== undefined && ranges.some(({ first, last }) => port >= first && port <= last);

const isIcmp = ({ type, code }: IcmpMatch, icmp: Packet['icmp']): boolean =>
  icmp !== undefined &&
  (type === undefined || type === icmp.type) &&
  (code === undefined || code === icmp.code);

function holds(
  state: CompiledState,
  { set: id, negate = false }: SetMatch,
  rule: CompiledRule,
  address: string,
  packet: Packet,
): boolean {
  const found = state.sets.get(id);
  if (found === undefined) throw new Error(`a rule names the set ${id}, which is not there`);
  if (rule.family !== found.set.family)
    throw new Error(`a rule of family ${rule.family} names the set ${id}`);
  return isMember(found.set, found.members, address, packet) !== negate;
}

function isMember(
  { type }: CompiledSet,
  members: ReadonlySet<string>,
  address: string,
  packet: Packet,
): boolean {
  if (type === 'addresses') return members.has(address);
  if (type === 'ports')
    return members.has(`${address},${names.get(packet.protocol)},${packet.destination.port}`);
  const parsed = parseAddress(address);
  return [...members].some((net) => containsAddress(parsePrefix(net), parsed));
}

/** The sum of deltas. */
export class Mirror implements CompiledState {
  readonly sets = new Map<string, { set: CompiledSet; members: Set<string> }>();
  readonly policies = new Map<string, CompiledPolicy>();
  readonly endpoints = new Map<string, CompiledEndpoint>();

  /** @throws Error for a delta that does not fit: a member that was there, or one removed that was not */
  take(delta: CompiledDelta): void {
    for (const { set, add, remove } of delta.sets) this.#change(set, add, remove);
    for (const policy of delta.policies) this.policies.set(policy.id, policy);
    for (const endpoint of delta.endpoints) this.endpoints.set(endpoint.key, endpoint);
    for (const key of delta.endpointsRemoved)
      demand(this.endpoints.delete(key), `endpoint ${key} was not there`);
    for (const id of delta.policiesRemoved) demand(this.policies.delete(id), `policy ${id} was not there`);
    for (const { id } of delta.setsRemoved) demand(this.sets.delete(id), `set ${id} was not there`);
  }

  #change(set: CompiledSet, add: readonly string[], remove: readonly string[]): void {
    const { members } = this.sets.get(set.id) ?? { members: new Set<string>() };
    for (const member of remove) demand(members.delete(member), `${member} was not in ${set.id}`);
    for (const member of add) {
      demand(!members.has(member), `${member} was in ${set.id}`);
      members.add(member);
    }
    this.sets.set(set.id, { set, members });
  }
}

function demand(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

/** A state as data that can be compared: no order where there is none. */
export const canonical = ({ sets, policies, endpoints }: CompiledState): object => ({
  sets: sortedBy([...sets.values()], ({ set }) => set.id).map(({ set, members }) => ({
    set,
    members: [...members].sort(),
  })),
  policies: sortedBy([...policies.values()], ({ id }) => id),
  endpoints: sortedBy([...endpoints.values()], ({ key }) => key),
});

const sortedBy = <T>(list: readonly T[], keyOf: (item: T) => string): T[] =>
  list.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
