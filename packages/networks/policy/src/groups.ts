/** Chains of tiers, and of endpoints with equal policies. */
import type { NftChain } from '@podwire/backend-linux/resources';
import type { CompiledDirection, CompiledTier, PolicyId } from '@podwire/policy';
import { type DropPrefix, dropRules } from './drops.js';
import { chain, comment, digest, type Direction, policyChain, type Rule } from './names.js';
import type { RenderedPolicy } from './policies.js';

/** The policies of a tier that select some endpoint, in order. */
export interface TierPlan {
  readonly name: string;
  readonly direction: Direction;
  readonly tier: CompiledTier;
}

/** All tiers of an endpoint, in one direction. */
export interface GroupPlan {
  readonly name: string;
  readonly direction: Direction;
  readonly tiers: readonly TierPlan[];
  readonly end: CompiledDirection['end'];
}

/** Named by what it is made of: endpoints with equal policies have the same chains, and after a restart again. */
export function planGroup(direction: Direction, compiled: CompiledDirection): GroupPlan {
  const { tiers, profiles, end } = compiled;
  const all: CompiledTier[] =
    profiles.length === 0 ? [...tiers] : [...tiers, { tier: 'profiles', policies: profiles, end: 'pass' }];
  const plans = all.map((tier) => ({
    name: `tier-${direction}-${digest(JSON.stringify([tier.tier, tier.policies, tier.end]))}`,
    direction,
    tier,
  }));
  const identity = JSON.stringify([plans.map(({ name }) => name), end]);
  return { name: `group-${direction}-${digest(identity)}`, direction, tiers: plans, end };
}

export function renderGroup({ name, direction, tiers, end }: GroupPlan, logGroup: number): NftChain {
  const jumps = tiers.map((tier): Rule => ({
    statements: [{ is: 'jump', chain: tier.name }],
    comment: comment(tier.tier.tier),
  }));
  const last: Rule[] =
    end === 'allow'
      ? [{ statements: [{ is: 'accept' }] }]
      : dropRules({ direction, reason: 'default' }, logGroup);
  return chain(name, [...jumps, ...last]);
}

/** Comes back where no rule has decided and the tier passes. */
export function renderTier(
  { name, direction, tier }: TierPlan,
  find: (id: PolicyId) => RenderedPolicy | undefined,
  logGroup: number,
): NftChain {
  const bodies = tier.policies.flatMap((id) => bodyOf(id, direction, find(id), logGroup));
  const end: DropPrefix = { direction, reason: 'end-of-tier', about: tier.tier };
  return chain(name, [...bodies, ...(tier.end === 'deny' ? dropRules(end, logGroup) : [])]);
}

/** A policy that is not known, which must not be, closes. */
function bodyOf(
  id: PolicyId,
  direction: Direction,
  policy: RenderedPolicy | undefined,
  logGroup: number,
): readonly Rule[] {
  if (policy === undefined) return dropRules({ direction, reason: 'broken', about: digest(id) }, logGroup);
  if (policy.placement === 'inline') return policy.rules;
  return [{ statements: [{ is: 'jump', chain: policyChain(direction, id) }], comment: comment(id) }];
}
