/** The node's own part: what it is, what its networks need before the first pod, and what is applied of it. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Family, familyOf } from '@podwire/addresses';
import type { DesiredState } from '@podwire/desired-state';
import type { CallOptions, Engine, KindRegistry, Owned, Resource } from '@podwire/engine';
import type {
  NetworkSide,
  NodeView,
  PoolView,
  RouterBefore,
  TunnelView,
  UnderlayView,
} from '@podwire/network-contract';
import { applyAtOnce, type Change } from '@podwire/planner';
import { compact, Semaphore } from '@podwire/platform';
import type { Network } from '../networks.js';
import { type AddressUse, describeDoubled, describeTaken, usesOfHost } from './address-uses.js';
import { findChangedLinks, type HostLinks, readHostLinks } from './host-links.js';
import { discoverMtu, type HostView, lacksIPv4 } from './host-view.js';
import { nodeDerivations, planNode, withoutBlocks } from './node-plan.js';
import type { RouterHistory } from './router-history.js';

/** State of a node in a cluster; all of it may change at any time. */
export interface ClusterFacts {
  readonly underlay: UnderlayView | undefined;
  readonly tunnel: TunnelView | undefined;
  /** Blocks that the node has of the network's pools, in use or not. The same array until they change. */
  blocksOf(network: Network): readonly string[];
  /** Pools of networks that this node does not have. */
  readonly otherPools: readonly PoolView[];
  /** Addresses in the pools that other nodes and the store use. */
  readonly uses: readonly AddressUse[];
}

export interface NodeOptions {
  readonly name: string;
  readonly networks: readonly Network[];
  readonly kinds: KindRegistry;
  /** Gets the scope `node`, and the facts that plans of peers read of the node. */
  readonly desired: DesiredState;
  readonly readHost: () => HostView;
  /** The same, with other work in between. */
  readonly readHostInSteps?: () => Promise<HostView>;
  /** Absent where only plans are made. */
  readonly routerHistory?: RouterHistory;
  /** Hears once of each pool that meets what others have. */
  readonly warn?: (problem: string) => void;
  /** Absent on a node that is alone. */
  readonly cluster?: ClusterFacts;
}

const [scope, owner] = ['node', 'node'];

export class NodeState {
  readonly #options: NodeOptions;
  #host: HostView;
  #router: RouterBefore | undefined;
  /** Looked for once: a node has as many links as pods, and an ADD asks several times. */
  #hostMtu: number;
  #hostUses: readonly AddressUse[];
  #hostLinks: HostLinks;
  #warned = new Set<string>();
  /** Drift asks for the list at each look, and compares it by its identity. */
  #planned: { readonly inputs: readonly unknown[]; readonly owned: Owned } | undefined;
  /** Of each network, as they were when the list was made that is applied. */
  #appliedBlocks: readonly (readonly string[])[] = [];
  /** One change after the other: if one fails, its roll-back must not remove what another has found in place. */
  readonly #changing = new Semaphore(1);
  readonly #following = new Semaphore(1);

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#host = options.readHost();
    this.#hostMtu = discoverMtu(this.#host);
    this.#hostUses = usesOfHost(this.#host);
    this.#hostLinks = readHostLinks(this.#host);
    options.desired.register({
      kind: scope,
      plan: (_, read) => planNode(read('sides'), read('other-pools')),
      ownerOf: () => owner,
      sources: {
        sides: () => this.#readSides(),
        'other-pools': () => this.#readOtherPools(),
        'host-link': (name) => this.#hostLinks.get(name),
      },
      derivations: nodeDerivations,
    });
    this.noteUses();
  }

  /**
   * Looks at the host again, and writes down what it does as a router before anything of it is changed. Pods that are wired keep the
   * MTU they have.
   * @throws PodwireError RECORD_IO
   */
  rediscover(): void {
    this.#takeHost(this.#options.readHost());
  }

  /** The same, and lets other work run in between: a node has as many links as pods. */
  async rediscoverInSteps(): Promise<void> {
    const { readHost, readHostInSteps } = this.#options;
    const host = await (readHostInSteps?.() ?? readHost());
    await setImmediate();
    this.#takeHost(host);
  }

  #takeHost(host: HostView): void {
    const { routerHistory, networks } = this.#options;
    this.#host = host;
    this.#hostMtu = discoverMtu(host);
    this.#router = routerHistory?.look(familiesOf(networks, host));
    this.#hostUses = usesOfHost(host);
    this.#noteHostLinks(readHostLinks(host));
    this.noteUses();
  }

  #noteHostLinks(links: HostLinks): void {
    const changed = findChangedLinks(this.#hostLinks, links);
    this.#hostLinks = links;
    this.#options.desired.planner.noteChanged(changed.map((name) => `host-link/${name}` as const));
  }

  /** Notes that the addresses of others in the cluster have changed. */
  noteUses(): void {
    const { networks, warn = () => undefined } = this.#options;
    for (const network of networks) network.setUses(this.#uses());
    const problems = this.#describePools();
    for (const problem of problems) if (!this.#warned.has(problem)) warn(problem);
    this.#warned = new Set(problems);
  }

  /** Pools with addresses of others, and pods whose address another has, in words that begin with a code. */
  problems(): string[] {
    const doubled = this.#options.networks.flatMap(({ ipam }) =>
      describeDoubled(ipam.leases(), this.#uses()),
    );
    return [...this.#describePools(), ...doubled];
  }

  /** As of the last look. */
  get host(): HostView {
    return this.#host;
  }

  view(network: Network): NodeView {
    const { name, cluster } = this.#options;
    return {
      name,
      network: network.view,
      blocks: network.ipam.blocks(),
      mtu: network.mtu ?? this.#hostMtu,
      ipv4: true,
      ipv6: this.#host.ipv6,
      ...(lacksIPv4(this.#host) ? { lacksIPv4: true } : {}),
      ...compact({ router: this.#router }),
      ...(cluster === undefined ? {} : viewInCluster(network, cluster)),
    };
  }

  /** Everything the node must have now, for the whole of its networks and blocks. The same list while it follows from the same. */
  owned(): Owned {
    const inputs = [this.#readSides(), this.#readOtherPools()] as const;
    if (!isDeepStrictEqual(this.#planned?.inputs, inputs))
      this.#planned = { inputs, owned: { owner, resources: planNode(...inputs) } };
    return this.#planned!.owned;
  }

  /**
   * Applies what `owned` has for blocks beyond what was applied before, after a new one was claimed: a blackhole route, and
   * what else its model needs. Costs nothing when none was.
   */
  async ensure(engine: Engine, options: CallOptions): Promise<void> {
    if (!this.#hasNewBlocks()) return;
    await this.#changing.run(async () => {
      // Another ADD may have waited for the same block.
      if (this.#hasNewBlocks()) await this.#applyBlocks(engine, options);
    });
  }

  /**
   * Makes the kernel follow `owned` where only independent things come and go: routes, addresses, elements of sets. Returns false
   * when anything else has changed, which is for a reconcile.
   */
  async sync(engine: Engine, options: CallOptions): Promise<boolean> {
    return this.#changing.run(() => this.#syncNow(engine, options));
  }

  /**
   * Lets a reconcile repair the node's own part while nothing else changes it.
   * @param repair says whether all of the list is in place then
   */
  async repair(repair: (owned: Owned) => Promise<boolean>): Promise<void> {
    const { planner } = this.#options.desired;
    await this.#changing.run(async () => {
      const [owned, blocks] = [this.owned(), this.#readBlocks()];
      // A reconcile carries out the whole difference, and prunes what has to go.
      const begun = planner.begin(this.#replan());
      try {
        if (!(await repair(owned))) return;
        planner.succeed(begun);
        planner.assumeApplied([scope]);
        // A block that was claimed after the list was made is not in it.
        this.#appliedBlocks = blocks;
      } finally {
        planner.abandon(begun);
      }
    });
  }

  /** Serialises what changes the node and its peers: following the cluster, and reconcile. No ADD waits for it. */
  exclusively<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#following.run(work, signal);
  }

  #readSides(): NetworkSide[] {
    return this.#options.networks.map((network) => ({ model: network.model, view: this.view(network) }));
  }

  #readOtherPools(): readonly PoolView[] {
    return this.#options.cluster?.otherPools ?? [];
  }

  #uses(): readonly AddressUse[] {
    return [...this.#hostUses, ...(this.#options.cluster?.uses ?? [])];
  }

  #describePools(): string[] {
    return this.#options.networks.flatMap(({ taken }) => taken.flatMap(describeTaken));
  }

  #readBlocks(): (readonly string[])[] {
    return this.#options.networks.map(({ ipam }) => ipam.blocks());
  }

  /** IPAM gives the same array until a block comes or goes. */
  #hasNewBlocks(): boolean {
    return this.#options.networks.some(({ ipam }, index) => ipam.blocks() !== this.#appliedBlocks[index]);
  }

  /** Plans the node anew, and has the plans of peers run again where they read something that has changed. */
  #replan(): Change<Resource>[] {
    const { planner } = this.#options.desired;
    planner.noteChanged(['sides', 'other-pools']);
    return planner.planNow(scope);
  }

  /** For an ADD: what a new block needs. Everything else is for {@link sync} and reconcile, which can replace things. */
  async #applyBlocks(engine: Engine, options: CallOptions): Promise<void> {
    const blocks = this.#readBlocks();
    const apartFromBlocks = this.#planWithoutBlocks();
    const missing = this.#replan().filter(
      ({ key, add, remove }) => add !== undefined && remove.length === 0 && !apartFromBlocks.has(key),
    );
    await this.#carryOut(missing, engine, options);
    this.#appliedBlocks = blocks;
  }

  /** The keys of what the node has also where it holds no block. */
  #planWithoutBlocks(): ReadonlySet<string> {
    const resources = planNode(this.#readSides().map(withoutBlocks), this.#readOtherPools());
    return new Set(resources.map((resource) => this.#options.kinds.keyOf(resource)));
  }

  async #syncNow(engine: Engine, options: CallOptions): Promise<boolean> {
    const blocks = this.#readBlocks();
    const changes = this.#replan();
    if (
      !changes
        .flatMap(({ add, remove }) => [...remove, ...(add === undefined ? [] : [add])])
        .every((resource) => this.#options.kinds.of(resource).independent)
    )
      return false;
    await this.#carryOut(changes, engine, options);
    this.#appliedBlocks = blocks;
    return true;
  }

  async #carryOut(changes: readonly Change<Resource>[], engine: Engine, options: CallOptions): Promise<void> {
    await applyAtOnce(this.#options.desired.planner, changes, { ...options, engine, owner: { owner } });
  }
}

/** Those that pods have, as far as the node speaks them. */
function familiesOf(networks: readonly Network[], { ipv6 }: HostView): (4 | 6)[] {
  const cidrs = networks.flatMap(({ view }) => view.pools.map(({ cidr }) => cidr));
  const isAssigned = networks.some(({ model }) => model.assigned !== undefined);
  const has = (family: Family): boolean => isAssigned || cidrs.some((cidr) => familyOf(cidr) === family);
  return ([4, 6] as const).filter((family) => has(family) && (family === 4 || ipv6));
}

function viewInCluster(network: Network, cluster: ClusterFacts): Partial<NodeView> {
  const { underlay, tunnel } = cluster;
  const { view, model, mtu, ipam } = network;
  return {
    blocks: union(cluster.blocksOf(network), ipam.blocks()),
    ...compact({ underlay }),
    ...(underlay === undefined || mtu !== undefined
      ? {}
      : { mtu: model.podMtu({ network: view, underlay, mtu: 0 }) }),
    ...compact({ tunnel }),
  };
}

/** By what the node holds and by what IPAM has taken into use of it: an ADD asks for it several times. */
const unions = new WeakMap<
  readonly string[],
  { readonly used: readonly string[]; readonly all: readonly string[] }
>();

/** Blocks in stock belong to the node like those in use: packets for them end here. */
function union(held: readonly string[], used: readonly string[]): readonly string[] {
  const known = unions.get(held);
  if (known?.used === used) return known.all;
  const all = [...new Set([...held, ...used])];
  unions.set(held, { used, all });
  return all;
}
