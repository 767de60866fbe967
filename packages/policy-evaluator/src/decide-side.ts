/** Tiers, one after the other, for one side of a connection. */
import type { Why } from './cluster.js';
import type { GoverningPolicy, GoverningRule, Tier } from './governing.js';
import type { Packet } from './packet.js';

/** @returns undefined where every tier has passed it on */
export function decideByTiers(policies: readonly GoverningPolicy[], packet: Packet): Why | undefined {
  for (const tier of sortTiers(policies)) {
    const members = policies.filter((each) => each.tier.name === tier.name).sort(comparePolicies);
    const why = decideByTier(tier, members, packet);
    if (why !== undefined) return why;
  }
  return undefined;
}

function sortTiers(policies: readonly GoverningPolicy[]): Tier[] {
  const byName = new Map(policies.map(({ tier }) => [tier.name, tier]));
  return [...byName.values()].sort(
    (a, b) => a.place - b.place || compareNumbers(a.order, b.order) || compareTexts(a.name, b.name),
  );
}

/** Order, then name; names are only unique within a namespace and a kind. */
const comparePolicies = (a: GoverningPolicy, b: GoverningPolicy): number =>
  compareNumbers(a.order, b.order) || compareTexts(a.name, b.name) || compareTexts(a.object, b.object);

/** Infinite ones are equal. */
const compareNumbers = (a: number, b: number): number => (a === b ? 0 : a - b);

export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function decideByTier(tier: Tier, policies: readonly GoverningPolicy[], packet: Packet): Why | undefined {
  for (const policy of policies) {
    const rule = findActing(policy.rules, packet);
    if (rule?.action === 'pass') return undefined;
    if (rule !== undefined) return explain(rule, policy.object, tier.name);
  }
  if (tier.end === 'pass') return undefined;
  return { verdict: 'deny', reason: 'end-of-tier', object: policies.at(-1)?.object, tier: tier.name };
}

/** The first rule that matches and does more than to log. */
export const findActing = (rules: readonly GoverningRule[], packet: Packet): GoverningRule | undefined =>
  rules.find((rule) => rule.action !== 'log' && rule.matches(packet));

export const explain = (rule: GoverningRule, object: string, tier: string | undefined): Why => ({
  verdict: rule.action === 'allow' ? 'allow' : 'deny',
  reason: 'rule',
  object,
  path: rule.path,
  ...(tier !== undefined && { tier }),
});
