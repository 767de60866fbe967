/** A cluster as function calls: real IPAM, real planner, a store in memory with latency and faults, and no kernel. */
import {
  blockKind,
  type CacheChange,
  type ClusterCache,
  completePool,
  type Keys,
  keysBelow,
  openClusterCache,
  type Pool,
  poolKind,
} from '@podwire/cluster-state';
import { BlockIndex } from '@podwire/cluster-ipam';
import { silentLog } from '@podwire/platform';
import { decodeObject, encodeObject, type Store } from '@podwire/store';
import { createMemoryServer, type Fault, type MemoryServer, randomFaults } from '@podwire/store/memory';
import { type Chance, createChance } from './chance.js';
import { network, SimulatedNode } from './node.js';
import { shareCache } from './shared-cache.js';
import { countCall, createTally, type Tally } from './tally.js';
import { createVirtualClock, type VirtualClock } from './virtual-clock.js';

export interface SimulationOptions {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** Blocks of the pool; each has 64 addresses. A power of two. */
  readonly blocks: number;
  /** Milliseconds of a call to the store: at least, and at most. */
  readonly latency: readonly [number, number];
  /** Shares of calls that go wrong. */
  readonly faults: Partial<Readonly<Record<Fault, number>>>;
  /** Simulated seconds over which the nodes join, and over which the pods come. */
  readonly joining: number;
  readonly arriving: number;
  /** Share of the pods that are deleted and created again afterwards. */
  readonly churn: number;
  readonly seed: number;
}

export const defaultSimulation: SimulationOptions = {
  nodes: 5_000,
  podsPerNode: 20,
  blocks: 16_384,
  latency: [1, 8],
  faults: { conflict: 0.01, 'answer-lost': 0.002, unavailable: 0.005 },
  joining: 30,
  arriving: 60,
  churn: 0.2,
  seed: 1,
};

export interface SimulationResult {
  readonly options: SimulationOptions;
  readonly pods: number;
  readonly blocksClaimed: number;
  /** Calls to the store, by what they are about: `transact blocks`. */
  readonly topics: Readonly<Record<string, number>>;
  readonly callsPerPod: number;
  /** Transactions that were about a block, for each block that was claimed: claiming and confirming. */
  readonly blockWritesPerClaim: number;
  /** ADDs that had to wait for the store. */
  readonly slowPaths: number;
  /** Simulated milliseconds that those waited, median and longest. */
  readonly slowMedian: number;
  readonly slowLongest: number;
  /** Microseconds of processor time. */
  readonly allocation: number;
  readonly planning: number;
  readonly resourcesPerPod: number;
  /** Simulated seconds until every pod had its address, and milliseconds of real time for all of it. */
  readonly simulated: number;
  readonly real: number;
}

/** @throws Error when an address is doubled or a block has two owners: the simulation is a test as well */
export async function simulate(
  options: SimulationOptions,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<SimulationResult> {
  const begin = performance.now();
  const cluster = await setUp(options);
  try {
    const { clock, nodes, tally } = cluster;
    const total = options.nodes * options.podsPerNode;
    const addresses = await runPods(cluster, options, (done) => progress(done, total));
    const simulated = clock.elapsed() / 1_000;
    await drive(clock, Promise.all(nodes.map((node) => flush(node, cluster))));
    await checkTruth(cluster, addresses);
    return summarize(options, tally, {
      blocks: cluster.cache.blocks.size,
      simulated,
      real: performance.now() - begin,
    });
  } finally {
    await tearDown(cluster);
  }
}

interface Cluster {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly server: MemoryServer;
  readonly calm: Store;
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly index: SharedIndex;
  readonly tally: Tally;
  readonly nodes: readonly SimulatedNode[];
}

/** One for all nodes: it has taken a change before any of them offers it. */
class SharedIndex extends BlockIndex {
  follow(change: Pick<CacheChange, 'pools' | 'blocks'>): void {
    super.take(change);
  }

  override take(): void {
    // It is there already.
  }
}

async function setUp(options: SimulationOptions): Promise<Cluster> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const chance = createChance(options.seed);
  const server = createMemoryServer({ clock });
  const calm = server.connect();
  const keys = keysBelow('/podwire');
  await calm.put(keys.pool('all'), encodeObject(poolKind, describePool(options)));
  const cache = openClusterCache({ store: calm, keys, log: silentLog });
  await drive(clock, cache.synced);
  const index = new SharedIndex(cache);
  index.follow({ pools: new Set(cache.pools.keys()), blocks: new Set() });
  // Before the nodes' own listeners: they must find it up to date.
  cache.onChange((change) => index.follow(change));
  const tally = createTally();
  const shared = shareCache(cache);
  const store = troubledStore(server, options, chance, tally, keys);
  const nodes = Array.from(
    { length: options.nodes },
    (_, number) =>
      new SimulatedNode({
        name: `node-${number}`,
        number,
        store,
        keys,
        shared,
        index,
        clock,
        chance,
        tally,
      }),
  );
  return { clock, chance, server, calm, keys, cache, index, tally, nodes };
}

function troubledStore(
  server: MemoryServer,
  options: SimulationOptions,
  chance: Chance,
  tally: Tally,
  keys: Keys,
): Store {
  const [least, most] = options.latency;
  return server.connect({
    latency: (call) => {
      countCall(tally, keys.root, call);
      return least + (most - least) * chance.next() ** 3;
    },
    decide: randomFaults(options.faults, () => chance.next()),
    timeout: 1_000,
  });
}

const describePool = ({ blocks }: SimulationOptions): Pool =>
  completePool({
    name: 'all',
    network,
    cidr: `10.0.0.0/${26 - Math.round(Math.log2(blocks))}`,
    blockSize: 26,
    encapsulation: 'vxlan',
  });

/** Nodes join, pods come, some go and come again. Returns who has which address. */
async function runPods(
  cluster: Cluster,
  options: SimulationOptions,
  progress: (done: number) => void,
): Promise<Map<string, string>> {
  const addresses = new Map<string, string>();
  let done = 0;
  const lives = cluster.nodes.map(async (node) => {
    const { clock, chance } = cluster;
    const { signal } = node;
    await clock.sleep(chance.next() * options.joining * 1_000, signal);
    await node.start();
    const pods = Array.from({ length: options.podsPerNode }, async (_, pod) => {
      await clock.sleep(chance.next() * options.arriving * 1_000, signal);
      await attach(node, pod, addresses);
      if (chance.next() < options.churn) {
        await clock.sleep(chance.next() * 20_000, signal);
        detach(node, pod, addresses);
        await attach(node, pod, addresses);
      }
      if (++done % 1_000 === 0) progress(done);
    });
    await Promise.all(pods);
  });
  await drive(cluster.clock, Promise.all(lives));
  return addresses;
}

async function attach(node: SimulatedNode, pod: number, addresses: Map<string, string>): Promise<void> {
  const owner = `${node.name}/${pod}`;
  for (const { address } of await node.add(pod)) {
    const other = addresses.get(address);
    if (other !== undefined) throw new Error(`${address} was given to ${other} and to ${owner}`);
    addresses.set(address, owner);
  }
}

function detach(node: SimulatedNode, pod: number, addresses: Map<string, string>): void {
  for (const address of node.remove(pod)) addresses.delete(address);
}

/** Until the store has taken it. */
async function flush(node: SimulatedNode, { clock }: Cluster): Promise<void> {
  for (;;) {
    try {
      await node.flush();
      return;
    } catch {
      await clock.sleep(500, node.signal);
    }
  }
}

/** Compares the store's blocks with the assigned addresses. */
async function checkTruth(
  { calm, keys, clock }: Cluster,
  addresses: ReadonlyMap<string, string>,
): Promise<void> {
  const owners = new Map<string, string>();
  const { items } = await drive(clock, calm.list(`${keys.root}/shared/blocks/`));
  for (const item of items) {
    const block = decodeObject(blockKind, item.key, item.value);
    if (block.node !== undefined) owners.set(block.cidr, block.node);
  }
  for (const [address, owner] of addresses) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    const block = `${a}.${b}.${c}.${d - (d % 64)}/26`;
    const node = owner.split('/')[0];
    if (owners.get(block) !== node)
      throw new Error(`${address} of ${owner} lies in ${block} of ${owners.get(block) ?? 'no node'}`);
  }
}

/** Lets time pass until the promise is settled. */
async function drive<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const end = (): void => void (settled = true);
  promise.then(end, end);
  await clock.run(() => settled);
  return promise;
}

async function tearDown({ clock, nodes, cache, calm }: Cluster): Promise<void> {
  await drive(clock, Promise.all(nodes.map((node) => node.stop())));
  await cache.close();
  await calm.close();
}

function summarize(
  options: SimulationOptions,
  tally: Tally,
  { blocks, simulated, real }: { readonly blocks: number; readonly simulated: number; readonly real: number },
): SimulationResult {
  const calls = [...tally.calls]
    .filter(([name]) => name !== 'watch')
    .reduce((sum, [, count]) => sum + count, 0);
  const waited = tally.waits.filter((wait) => wait > 0).sort((a, b) => a - b);
  const adds = tally.waits.length;
  return {
    options,
    pods: options.nodes * options.podsPerNode,
    blocksClaimed: blocks,
    topics: Object.fromEntries([...tally.topics].sort(([a], [b]) => (a < b ? -1 : 1))),
    callsPerPod: calls / adds,
    blockWritesPerClaim: (tally.topics.get('transact blocks') ?? 0) / blocks,
    slowPaths: waited.length,
    slowMedian: waited[Math.floor(waited.length / 2)] ?? 0,
    slowLongest: waited.at(-1) ?? 0,
    allocation: (tally.allocating * 1_000) / tally.allocations,
    planning: (tally.planning * 1_000) / adds,
    resourcesPerPod: tally.planned / adds,
    simulated,
    real,
  };
}
