/** The decision of the compiled form on one connection in one direction of one endpoint. */
import type { Connection, Decision } from '../compile/compiler-contract.js';
import type {
  CompiledEndpoint,
  CompiledPolicy,
  CompiledRule,
  CompiledState,
  CompiledTier,
  PolicyId,
} from '../compile/contract.js';
import type { Direction } from '../model/policy.js';
import { matchesRule } from './match.js';

/** A compiler's state, or an inspection of a pod. */
export type CompiledView = Pick<CompiledState, 'policies' | 'sets'>;

export interface DecideInput {
  readonly direction: Direction;
  readonly endpoint: CompiledEndpoint;
  /** Addresses in canonical text. */
  readonly connection: Connection;
}

/** Policies that host endpoints have before routing, or without tracking, are no part of it. */
export function decideConnection(
  view: CompiledView,
  { direction, endpoint, connection }: DecideInput,
): Decision {
  const { tiers, profiles, end } = endpoint[direction];
  for (const tier of tiers) {
    const decision = decideInTier(view, tier, direction, connection);
    if (decision !== undefined) return decision;
  }
  const found = findActing(view, profiles, direction, connection);
  return found === undefined || found.rule.action === 'pass'
    ? { verdict: end, reason: 'default' }
    : describe(found);
}

/** @returns undefined where the tier leaves it to the next */
function decideInTier(
  view: CompiledView,
  { tier, policies, end }: CompiledTier,
  direction: Direction,
  connection: Connection,
): Decision | undefined {
  const own = policies.filter((id) => isNormal(policyOf(view, id)));
  if (own.length === 0) return undefined;
  const found = findActing(view, own, direction, connection);
  if (found === undefined)
    return end === 'deny' ? { verdict: 'deny', reason: 'end-of-tier', tier, policy: own.at(-1) } : undefined;
  return found.rule.action === 'pass' ? undefined : { ...describe(found), tier };
}

const isNormal = ({ hostMode }: CompiledPolicy): boolean => hostMode === 'normal' || hostMode === 'forward';

interface Found {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
}

/** The first rule that matches and does more than logging. */
function findActing(
  view: CompiledView,
  ids: readonly PolicyId[],
  direction: Direction,
  connection: Connection,
): Found | undefined {
  for (const id of ids) {
    const policy = policyOf(view, id);
    const rule = policy[direction]?.find(
      (each) => each.action !== 'log' && matchesRule(each, connection, view.sets),
    );
    if (rule !== undefined) return { policy, rule };
  }
  return undefined;
}

function policyOf({ policies }: CompiledView, id: PolicyId): CompiledPolicy {
  const policy = policies.get(id);
  if (policy === undefined) throw new Error(`the policy ${id} of a compiled endpoint is missing`);
  return policy;
}

const describe = ({ policy, rule }: Found): Decision => ({
  verdict: rule.action === 'allow' ? 'allow' : 'deny',
  reason: policy.broken === undefined ? 'rule' : 'broken',
  policy: policy.id,
  path: rule.path,
});
