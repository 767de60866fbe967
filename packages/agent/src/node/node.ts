/** The node's own part: what it is, what its networks need before the first pod, and what is applied of it. */
import { type Family, familyOf } from '@podwire/addresses';
import type { CallOptions, Engine, Owned, Resource } from '@podwire/engine';
import type { NodeView, PoolView, RouterBefore, TunnelView, UnderlayView } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import type { Network } from '../networks.js';
import { type AddressUse, describeDoubled, describeTaken, usesOfHost } from './address-uses.js';
import { discoverMtu, type HostView } from './host-view.js';
import { planHostTables } from './host-tables.js';
import type { RouterHistory } from './router-history.js';

export interface NodeState {
  /**
   * Looks at the host again, and writes down what it does as a router before anything of it is changed. Pods that are wired keep the
   * MTU they have.
   * @throws PodwireError RECORD_IO
   */
  rediscover(): void;
  /** What others in the cluster have of the pools has changed. */
  noteUses(): void;
  /** What of the pools others have, and pods whose address they have, in words that begin with a code. */
  problems(): string[];
  view(network: Network): NodeView;
  /** Everything the node must have now, for the whole of its networks and blocks. */
  owned(): Owned;
  /**
   * Applies what `owned` has beyond what was applied before: after a new block was claimed, its blackhole route.
   * Costs nothing when no block was.
   */
  ensure(engine: Engine, options: CallOptions): Promise<void>;
  /**
   * Makes the kernel follow `owned` where that is adding and taking away alone. Returns false when something has to be replaced, which
   * only a reconcile can.
   */
  sync(engine: Engine, options: CallOptions): Promise<boolean>;
  /** A reconcile has applied this list, and no block was claimed since it was made. */
  markApplied(owned: Owned): void;
}

/** What a node is in a cluster; all of it may change at any time. */
export interface ClusterFacts {
  readonly underlay: UnderlayView | undefined;
  readonly tunnel: TunnelView | undefined;
  /** What the node holds of the network's pools, also what no pod has an address of yet. The same array until it changes. */
  blocksOf(network: Network): readonly string[];
  /** Pools of networks that this node does not have. */
  readonly otherPools: readonly PoolView[];
  /** What other nodes and the store have of the pools. */
  readonly uses: readonly AddressUse[];
}

export interface NodeOptions {
  readonly name: string;
  readonly networks: readonly Network[];
  readonly readHost: () => HostView;
  /** Absent where only plans are made. */
  readonly routerHistory?: RouterHistory;
  /** Hears once of each pool that meets what others have. */
  readonly warn?: (problem: string) => void;
  /** Absent on a node that is alone. */
  readonly cluster?: ClusterFacts;
}

export function createNodeState(options: NodeOptions): NodeState {
  const { name, networks, readHost, routerHistory, warn = () => undefined, cluster } = options;
  let host = readHost();
  let router: RouterBefore | undefined;
  /** Looked for once: a node has as many links as pods, and an ADD asks several times. */
  let hostMtu = discoverMtu(host);
  let hostUses = usesOfHost(host);
  /** By their texts, since they are compared by value. */
  let applied = new Map<string, Resource>();
  /** Of which nobody knows whether they are there: their removal has failed, perhaps half way. */
  const doubtful = new Set<string>();
  /** Of each network, as they were when the list was made that is applied. */
  let appliedBlocks: readonly (readonly string[])[] = [];
  let working: Promise<unknown> | undefined;

  const usesNow = (): readonly AddressUse[] => [...hostUses, ...(cluster?.uses ?? [])];
  let warned = new Set<string>();
  const describePools = (): string[] => networks.flatMap(({ taken }) => taken.flatMap(describeTaken));
  const noteUses = (): void => {
    for (const network of networks) network.setUses(usesNow());
    const problems = describePools();
    for (const problem of problems) if (!warned.has(problem)) warn(problem);
    warned = new Set(problems);
  };
  noteUses();

  const readBlocks = (): (readonly string[])[] => networks.map(({ ipam }) => ipam.blocks());
  /** IPAM gives the same array until a block comes or goes. */
  const hasNewBlocks = (): boolean =>
    networks.some(({ ipam }, index) => ipam.blocks() !== appliedBlocks[index]);

  const view = (network: Network): NodeView => ({
    name,
    network: network.view,
    blocks: network.ipam.blocks(),
    mtu: network.mtu ?? hostMtu,
    ipv4: true,
    ipv6: host.ipv6,
    ...compact({ router }),
    ...(cluster === undefined ? {} : viewInCluster(network, cluster)),
  });

  const owned = (): Owned => {
    const tables = planHostTables(
      networks.map((network) => ({ model: network.model, view: view(network) })),
      cluster?.otherPools ?? [],
    );
    const resources = [
      // First: the node must not forward before it knows for whom.
      ...tables.beforeModels,
      ...networks.flatMap((network) => network.model.planNode(view(network))),
      ...tables.afterModels,
    ];
    return { owner: 'node', resources: withoutDoubles(resources) };
  };

  const index = (resources: readonly Resource[]): Map<string, Resource> =>
    new Map(resources.map((resource) => [JSON.stringify(resource), resource]));

  /** For an ADD: what a new block needs. Everything else is for {@link sync} and reconcile, which can replace things. */
  async function applyBlocks(engine: Engine, options: CallOptions): Promise<void> {
    const blocks = readBlocks();
    const missing = owned().resources.filter(
      (resource) => resource.kind === 'route' && !applied.has(JSON.stringify(resource)),
    );
    if (missing.length > 0) await engine.apply({ owner: 'node', resources: missing }, options);
    for (const [text, resource] of index(missing)) applied.set(text, resource);
    appliedBlocks = blocks;
  }

  async function syncNow(engine: Engine, options: CallOptions): Promise<boolean> {
    const blocks = readBlocks();
    const wanted = index(owned().resources);
    const missing = [...wanted]
      .filter(([text]) => !applied.has(text) || doubtful.has(text))
      .map(([, resource]) => resource);
    const gone = [...applied].filter(([text]) => !wanted.has(text)).map(([, resource]) => resource);
    if (![...missing, ...gone].every(comesAndGoes)) return false;
    // An address that is replaced by another may have the same route.
    for (const text of index(gone).keys()) doubtful.add(text);
    if (gone.length > 0) await engine.remove({ owner: 'node', resources: gone }, options);
    // If the rest fails, what is gone may be wanted again by the next try.
    for (const text of index(gone).keys()) applied.delete(text);
    if (missing.length > 0) await engine.apply({ owner: 'node', resources: missing }, options);
    applied = wanted;
    doubtful.clear();
    appliedBlocks = blocks;
    return true;
  }

  /** One after the other: if one fails, its way back must not take what another has found in place. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const current = work().finally(() => (working = undefined));
    working = current;
    return current;
  }

  return {
    rediscover() {
      host = readHost();
      hostMtu = discoverMtu(host);
      router = routerHistory?.look(familiesOf(networks, host));
      hostUses = usesOfHost(host);
      noteUses();
    },
    noteUses,
    problems: () => [
      ...describePools(),
      ...networks.flatMap(({ ipam }) => describeDoubled(ipam.leases(), usesNow())),
    ],
    view,
    owned,
    markApplied({ resources }) {
      applied = index(resources);
      doubtful.clear();
      appliedBlocks = readBlocks();
    },
    async ensure(engine, options) {
      while (working !== undefined) await working.catch(() => undefined);
      if (!hasNewBlocks()) return;
      await alone(() => applyBlocks(engine, options));
    },
    async sync(engine, options) {
      while (working !== undefined) await working.catch(() => undefined);
      return alone(() => syncNow(engine, options));
    },
  };
}

/** Those that pods have, as far as the node speaks them. */
function familiesOf(networks: readonly Network[], { ipv6 }: HostView): (4 | 6)[] {
  const cidrs = networks.flatMap(({ view }) => view.pools.map(({ cidr }) => cidr));
  const has = (family: Family): boolean => cidrs.some((cidr) => familyOf(cidr) === family);
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

/** Things that can be there or not, and are never changed in place. */
function comesAndGoes({ kind }: Resource): boolean {
  return kind === 'route' || kind === 'address' || kind === 'neighbour';
}

/** Two networks of one model need the same parameters and tables of the node, and reach a peer through one tunnel. */
export function withoutDoubles(resources: readonly Resource[]): Resource[] {
  return [...new Map(resources.map((resource) => [JSON.stringify(resource), resource])).values()];
}
