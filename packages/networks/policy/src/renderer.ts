import type { Resource } from '@podwire/engine';
import type { CompiledDelta, CompiledSet, SetChange, SetId } from '@podwire/policy';
import { planBase } from './base.js';
import { DirectionChains } from './chains.js';
import type {
  DropReason,
  LinkChange,
  PolicyRenderer,
  RenderedDelta,
  RendererOptions,
  RulePlace,
} from './contract.js';
import { parseLogPrefix, prefixOfDrop } from './drops.js';
import { HostEndpoints } from './hosts/host-endpoints.js';
import type { Direction } from './names.js';
import { PodLinks } from './links.js';
import { planMember, planSet } from './sets.js';
import { WantedResources } from './wanted.js';

/**
 * Policy as one table of nftables. What a change costs follows the change: a peer's pod is an element of a set, a pod of this node two
 * elements of the maps of links (and chains, where no other pod has the same policies), a policy its own chain.
 */
export const createPolicyRenderer = (options: RendererOptions): PolicyRenderer => new TableRenderer(options);

class TableRenderer implements PolicyRenderer {
  readonly #wanted = new WantedResources();
  readonly #sets = new Map<SetId, { readonly set: CompiledSet; readonly members: Set<string> }>();
  readonly #chains: Readonly<Record<Direction, DirectionChains>>;
  readonly #links: PodLinks;
  readonly #hosts: HostEndpoints;
  readonly #base: readonly Resource[];

  constructor(options: RendererOptions) {
    const make = (direction: Direction): DirectionChains =>
      new DirectionChains({
        direction,
        logGroup: options.logGroup,
        find: (id) => this.#sets.get(id)?.set,
        wanted: this.#wanted,
      });
    this.#chains = { egress: make('egress'), ingress: make('ingress') };
    this.#links = new PodLinks(this.#chains, this.#wanted, options.planSources);
    this.#hosts = new HostEndpoints({ chains: this.#chains, wanted: this.#wanted, options });
    this.#base = planBase(options);
    this.#wanted.exchange([], this.#base);
    this.#wanted.take();
  }

  start(): RenderedDelta {
    return { add: this.#base, remove: [] };
  }

  apply(delta: CompiledDelta, links: readonly LinkChange[]): RenderedDelta {
    for (const change of delta.sets) this.#putSet(change);
    for (const policy of delta.policies) this.#putPolicy(policy.id, policy);
    for (const id of delta.policiesRemoved) this.#putPolicy(id, undefined);
    for (const endpoint of delta.endpoints) this.#putEndpoint(endpoint.key, endpoint);
    for (const key of delta.endpointsRemoved) this.#putEndpoint(key, undefined);
    for (const link of links) this.#links.putLink(link);
    this.#links.settle();
    this.#hosts.settle();
    for (const chains of Object.values(this.#chains)) chains.settle();
    for (const set of delta.setsRemoved) this.#removeSet(set);
    return this.#wanted.take();
  }

  get resources(): readonly Resource[] {
    return this.#wanted.list;
  }

  describeDrop(prefix: string): DropReason | undefined {
    const parsed = parseLogPrefix(prefix);
    if (parsed === undefined) return undefined;
    const { direction, reason, about } = parsed;
    if (about === undefined || reason === 'end-of-tier') return { direction, reason, tier: about };
    const policy = this.#chains[direction].findByDigest(about);
    return { direction, reason, policy: policy?.id, tier: policy?.tier };
  }

  describeRule({ chain, index }: RulePlace): DropReason | undefined {
    const prefix = prefixOfDrop(this.#wanted.findChain(chain)?.chain.rules ?? [], index);
    return prefix === undefined ? undefined : this.describeDrop(prefix);
  }

  #putPolicy(id: string, policy: CompiledDelta['policies'][number] | undefined): void {
    for (const chains of Object.values(this.#chains)) chains.putPolicy(id, policy);
    this.#hosts.putPolicy(id, policy?.hostMode);
  }

  #putEndpoint(key: string, endpoint: CompiledDelta['endpoints'][number] | undefined): void {
    this.#links.putEndpoint(key, endpoint);
    this.#hosts.put(key, endpoint);
  }

  #putSet({ set, add, remove }: SetChange): void {
    const known = this.#sets.get(set.id) ?? { set, members: new Set<string>() };
    this.#sets.set(set.id, known);
    this.#wanted.put(planSet(set));
    for (const member of remove) {
      known.members.delete(member);
      this.#wanted.delete(planMember(set, member));
    }
    for (const member of add) {
      known.members.add(member);
      this.#wanted.put(planMember(set, member));
    }
  }

  #removeSet(set: CompiledSet): void {
    for (const member of this.#sets.get(set.id)?.members ?? []) this.#wanted.delete(planMember(set, member));
    this.#sets.delete(set.id);
    this.#wanted.delete(planSet(set));
  }
}
