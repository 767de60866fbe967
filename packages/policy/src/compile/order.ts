/** Which policies apply to an endpoint, in order of evaluation. */
import { builtInTiers, type Direction, type Policy, type Tier } from '../model/policy.js';
import type { CompiledDirection, CompiledEndpoint, CompiledTier } from './contract.js';
import { profileId } from './rules.js';

/** Tiers by name, with those that every cluster has. */
export type Tiers = ReadonlyMap<string, Tier>;

export const builtIn: ReadonlyMap<string, Tier> = new Map(builtInTiers.map((tier) => [tier.name, tier]));

/** Facts about an endpoint when its policies have been found. */
export interface Governed {
  readonly key: string;
  readonly kind: CompiledEndpoint['kind'];
  /** In any order. */
  readonly policies: readonly Policy[];
  /** Names of those that exist. */
  readonly profiles: readonly string[];
}

export function orderEndpoint({ key, kind, policies, profiles }: Governed, tiers: Tiers): CompiledEndpoint {
  const ids = profiles.map(profileId);
  // With profiles, what their rules do not allow is denied; a host endpoint is closed anyway.
  const end = profiles.length > 0 || kind === 'host-endpoint' ? 'deny' : 'allow';
  const order = (direction: Direction): CompiledDirection => ({
    tiers: orderTiers(policies, direction, tiers),
    profiles: ids,
    end,
  });
  return { key, kind, ingress: order('ingress'), egress: order('egress') };
}

/** Policies that treat host endpoints before routing or without tracking have nothing to say about pods. */
export const appliesToPods = ({ hostMode = 'normal' }: Policy): boolean =>
  hostMode === 'normal' || hostMode === 'forward';

function orderTiers(policies: readonly Policy[], direction: Direction, tiers: Tiers): CompiledTier[] {
  const byTier = new Map<string, Policy[]>();
  for (const policy of policies) {
    if (policy[direction] === undefined) continue;
    const own = byTier.get(policy.tier);
    if (own === undefined) byTier.set(policy.tier, [policy]);
    else own.push(policy);
  }
  return [...byTier]
    .map(([name, own]) => ({ tier: findTier(name, tiers), policies: own.toSorted(comparePolicies) }))
    .toSorted((a, b) => compareTiers(a.tier, b.tier))
    .map(({ tier, policies: own }) => ({
      tier: tier.name,
      policies: own.map(({ id }) => id),
      end: tier.end,
    }));
}

/** A tier that nothing describes closes what its policies do not allow, behind all that are described. */
const findTier = (name: string, tiers: Tiers): Tier =>
  builtIn.get(name) ?? tiers.get(name) ?? { name, order: Number.MAX_SAFE_INTEGER - 1, end: 'deny' };

const compareTiers = (a: Tier, b: Tier): number => compare(a.order, b.order) || compare(a.name, b.name);

/** By order, the name of the object, and at last by id. */
const comparePolicies = (a: Policy, b: Policy): number =>
  compare(a.order ?? Infinity, b.order ?? Infinity) ||
  compare(a.reference.name, b.reference.name) ||
  compare(a.id, b.id);

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
