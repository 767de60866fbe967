/** Chains of policies, tiers and groups, made for those who use them and taken away with the last. */
import type { Resource } from '@podwire/engine';
import type { CompiledDirection, CompiledPolicy, PolicyId } from '@podwire/policy';
import { digest, type Direction } from './names.js';
import { type GroupPlan, planGroup, renderGroup, renderTier, type TierPlan } from './groups.js';
import type { FindSet } from './match.js';
import { type RenderedPolicy, renderPolicy } from './policies.js';
import type { WantedResources } from './wanted.js';

interface UsedTier {
  readonly plan: TierPlan;
  uses: number;
  resource: Resource;
}

interface UsedGroup {
  readonly plan: GroupPlan;
  uses: number;
  readonly resource: Resource;
}

export interface DirectionOptions {
  readonly direction: Direction;
  readonly logGroup: number;
  readonly find: FindSet;
  readonly wanted: WantedResources;
}

/** One direction: neither knows of the other. */
export class DirectionChains {
  readonly #options: DirectionOptions;
  readonly #policies = new Map<PolicyId, RenderedPolicy>();
  readonly #byDigest = new Map<string, CompiledPolicy>();
  readonly #tiers = new Map<string, UsedTier>();
  readonly #tiersOf = new Map<PolicyId, Set<string>>();
  readonly #groups = new Map<string, UsedGroup>();
  /** Tiers that hold rules of a policy that has changed. */
  readonly #stale = new Set<string>();

  constructor(options: DirectionOptions) {
    this.#options = options;
  }

  /** @param policy absent: there is none any more */
  putPolicy(id: PolicyId, policy: CompiledPolicy | undefined): void {
    const before = this.#policies.get(id);
    const after = policy && renderPolicy(policy, this.#options);
    this.#options.wanted.exchange(before?.resources ?? [], after?.resources ?? []);
    if (after === undefined) this.#policies.delete(id);
    else this.#policies.set(id, after);
    if (policy === undefined) this.#byDigest.delete(digest(id));
    else this.#byDigest.set(digest(id), policy);
    const isShared = before?.placement === 'chain' && after?.placement === 'chain';
    if (!isShared) for (const tier of this.#tiersOf.get(id) ?? []) this.#stale.add(tier);
  }

  /** @returns the chain to go to; it is there until it is released as often */
  acquire(compiled: CompiledDirection): string {
    const plan = planGroup(this.#options.direction, compiled);
    const known = this.#groups.get(plan.name);
    if (known !== undefined) {
      known.uses++;
      return plan.name;
    }
    for (const tier of plan.tiers) this.#acquireTier(tier);
    const resource = renderGroup(plan, this.#options.logGroup);
    this.#groups.set(plan.name, { plan, uses: 1, resource });
    this.#options.wanted.put(resource);
    return plan.name;
  }

  release(name: string): void {
    const group = this.#groups.get(name);
    if (group === undefined || --group.uses > 0) return;
    this.#groups.delete(name);
    this.#options.wanted.delete(group.resource);
    for (const tier of group.plan.tiers) this.#releaseTier(tier.name);
  }

  /** Policies that have come, gone or changed are in the tiers that hold their rules. */
  settle(): void {
    for (const name of this.#stale) {
      const tier = this.#tiers.get(name);
      if (tier === undefined) continue;
      tier.resource = this.#renderTier(tier.plan);
      this.#options.wanted.put(tier.resource);
    }
    this.#stale.clear();
  }

  findByDigest(text: string): CompiledPolicy | undefined {
    return this.#byDigest.get(text);
  }

  #acquireTier(plan: TierPlan): void {
    const known = this.#tiers.get(plan.name);
    if (known !== undefined) {
      known.uses++;
      return;
    }
    const resource = this.#renderTier(plan);
    this.#tiers.set(plan.name, { plan, uses: 1, resource });
    this.#options.wanted.put(resource);
    for (const id of plan.tier.policies) {
      const tiers = this.#tiersOf.get(id) ?? new Set();
      this.#tiersOf.set(id, tiers.add(plan.name));
    }
  }

  #releaseTier(name: string): void {
    const tier = this.#tiers.get(name);
    if (tier === undefined || --tier.uses > 0) return;
    this.#tiers.delete(name);
    this.#options.wanted.delete(tier.resource);
    for (const id of tier.plan.tier.policies) {
      const tiers = this.#tiersOf.get(id);
      tiers?.delete(name);
      if (tiers?.size === 0) this.#tiersOf.delete(id);
    }
  }

  #renderTier(plan: TierPlan): Resource {
    return renderTier(plan, (id) => this.#policies.get(id), this.#options.logGroup);
  }
}
