/** Rules of the normal form as rules of a packet filter. Pure: what a rule becomes depends on nothing but the rule. */
import type { Direction, PeerCondition, Policy, Profile, Rule } from '../model/policy.js';
import type { CompiledPolicy, CompiledRule, Family, SetId, SetMatch } from './contract.js';
import { type Alternatives, always, matchConditions, type UseSet } from './peers.js';
import { describeSelection, describeSet, type Selection, type SetDescription } from './parts.js';
import { Inexpressible, matchServices, type NamedPortMatch, type ServiceMatch } from './services.js';

export interface PolicyWithSets {
  readonly policy: CompiledPolicy;
  readonly sets: ReadonlyMap<SetId, SetDescription>;
}

interface Context {
  readonly direction: Direction;
  /** Where the policy is enforced: named ports of its own pods are those of pods there. */
  readonly node: string;
  readonly use: UseSet;
}

const families: readonly Family[] = [4, 6];
const everyPod = { namespaces: { is: 'all' }, pods: { is: 'all' } } as const;

/** A broken policy, also one that turns out to be inexpressible, denies everything in the directions that it governs. */
export function compilePolicy(policy: Policy, node: string): PolicyWithSets {
  const { id, reference, origin, tier, hostMode = 'normal' } = policy;
  const rank = { order: policy.order ?? Infinity, name: reference.name };
  const shared = { id, reference, ...(origin !== undefined && { origin }), tier, rank, hostMode };
  if (policy.broken !== undefined) return close(policy, shared, policy.broken);
  try {
    return compileDirections(policy, shared, node);
  } catch (error) {
    if (error instanceof Inexpressible) return close(policy, shared, error.message);
    throw error;
  }
}

export const profileId = (name: string): string => `profile ${name}`;

export const compileProfile = ({ name, reference, ingress, egress }: Profile, node: string): PolicyWithSets =>
  compilePolicy({ id: profileId(name), reference, tier: 'profiles', subjects: [], ingress, egress }, node);

type Shared = Omit<CompiledPolicy, 'ingress' | 'egress' | 'broken'>;
type Rules = Pick<Policy, 'ingress' | 'egress'>;

function close({ ingress, egress }: Rules, shared: Shared, broken: string): PolicyWithSets {
  const rules: readonly CompiledRule[] = [{ action: 'deny', source: [], destination: [], path: 'spec' }];
  const policy = { ...shared, ...(ingress && { ingress: rules }), ...(egress && { egress: rules }), broken };
  return { policy, sets: new Map() };
}

function compileDirections({ ingress, egress }: Rules, shared: Shared, node: string): PolicyWithSets {
  const needed = new Map<SetId, SetDescription>();
  const use: UseSet = (set) => {
    needed.set(set.id, set);
    return set.id;
  };
  const compile = (rules: readonly Rule[], direction: Direction): CompiledRule[] =>
    rules.flatMap((rule) => compileRule(rule, { direction, node, use }));
  const policy = {
    ...shared,
    ...(ingress && { ingress: compile(ingress, 'ingress') }),
    ...(egress && { egress: compile(egress, 'egress') }),
  };
  return { policy, sets: usedSets(policy, needed) };
}

/** An alternative that is dropped in the end may have asked for a set. */
function usedSets(
  policy: CompiledPolicy,
  needed: ReadonlyMap<SetId, SetDescription>,
): Map<SetId, SetDescription> {
  const rules = [...(policy.ingress ?? []), ...(policy.egress ?? [])];
  const used = rules.flatMap(({ source, destination }) => [...source, ...destination].map(({ set }) => set));
  return new Map(used.map((id) => [id, needed.get(id)!]));
}

/** One rule for each family, alternative of services, of sources and of destinations; none where a condition can never hold. */
function compileRule(rule: Rule, context: Context): CompiledRule[] {
  return matchServices(rule).flatMap((service) =>
    familiesOf(rule, service).flatMap((family) => compileAlternatives(rule, service, family, context)),
  );
}

/** Undefined: of both, without a word about it. */
function familiesOf(rule: Rule, service: ServiceMatch): readonly (Family | undefined)[] {
  const wanted = [rule.family, service.family].filter((family) => family !== undefined);
  if (wanted.length > 0) return families.filter((family) => wanted.every((each) => each === family));
  const named = service.named !== undefined || service.notNamed !== undefined;
  const conditions = [...rule.source, ...rule.destination].filter(isCondition);
  return named || conditions.length > 0 ? families : [undefined];
}

/** None of no peers: holds always. */
const isCondition = ({ peers, negate }: PeerCondition): boolean => negate !== true || peers.length > 0;

function compileAlternatives(
  rule: Rule,
  service: ServiceMatch,
  family: Family | undefined,
  context: Context,
): CompiledRule[] {
  const { named: _named, notNamed: _notNamed, ...match } = service;
  const fields = omitUndefined({ action: rule.action, ...match, family, path: rule.path });
  const sources = family === undefined ? always : matchConditions(rule.source, family, 'source', context.use);
  const destinations = family === undefined ? always : matchDestination(rule, service, family, context);
  return sources.flatMap((source) => destinations.map((destination) => ({ ...fields, source, destination })));
}

const omitUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

/** A set of ports by name says which pods, too: where the peers of a condition are pods, it takes the place of their addresses. */
function matchDestination(rule: Rule, service: ServiceMatch, family: Family, context: Context): Alternatives {
  const { direction, node, use } = context;
  const { named, notNamed } = service;
  const pods = named === undefined || direction === 'ingress' ? undefined : rule.destination.find(isOfPods);
  const all = [describeSelection(everyPod, direction === 'ingress' ? node : undefined)];
  const ports: SetMatch[] = [];
  if (named) ports.push({ set: use(describePorts(pods ? selectionsOf(pods) : all, named, family)) });
  if (notNamed) ports.push({ set: use(describePorts(all, notNamed, family)), negate: true });
  const others = rule.destination.filter((condition) => condition !== pods);
  return matchConditions(others, family, 'destination', use).map((each) => [...each, ...ports]);
}

const isOfPods = ({ peers, negate }: PeerCondition): boolean =>
  negate !== true && peers.length > 0 && peers.every(({ is }) => is === 'pods');

const selectionsOf = ({ peers }: PeerCondition): Selection[] =>
  peers.flatMap((peer) => (peer.is === 'pods' ? [describeSelection(peer)] : []));

const describePorts = (
  selections: readonly Selection[],
  named: readonly NamedPortMatch[],
  family: Family,
): SetDescription =>
  describeSet(
    'ports',
    family,
    selections.flatMap((selection) => named.map((port) => ({ from: 'pods' as const, selection, port }))),
  );
