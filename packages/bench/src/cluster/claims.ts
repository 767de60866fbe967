/** Cost of a claim in a pool that has thousands of blocks already, at a real etcd: round trips and time. */
import { blockKind, type Keys, keysBelow, poolKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store, type Write } from '@podwire/store';
import { startEtcd } from '@podwire/testkit/etcd';
import { summarize, type Summary } from '../statistics.js';
import { fillPool, network, registerPresence, startBareNode } from './bare-node.js';

export interface ClaimFigures {
  /** Blocks that others have. */
  readonly blocks: number;
  readonly claims: number;
  /** Calls to the store until the block could be used, for each claim. */
  readonly roundTrips: number;
  /** How often all was listed after the start; 0 is what is wanted. */
  readonly lists: number;
  /** Milliseconds from asking for a block to having it. */
  readonly latency: Summary;
}

export interface ClaimOptions {
  readonly blocks: number;
  /** At most 256. */
  readonly claims: number;
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

const node = 'bench';
const pool = fillPool({ name: 'all', cidr: '10.0.0.0/12', borrowing: true });

export async function measureClaims(options: ClaimOptions): Promise<ClaimFigures> {
  const etcd = await startEtcd();
  const store = await openStore(etcd.spec, { log: silentLog, clock: systemClock });
  try {
    const keys = keysBelow('/podwire');
    await store.put(keys.pool(pool.name), encodeObject(poolKind, pool));
    await fillBlocks(store, keys, options);
    return { blocks: options.blocks, ...(await claimInFullPool(store, keys, options)) };
  } finally {
    await store.close();
    await etcd.close();
  }
}

/** Every block but some at the end, as in a pool that is long in use. */
async function fillBlocks(store: Store, keys: Keys, { blocks, signal }: ClaimOptions): Promise<void> {
  for (let first = 0; first < blocks; first += 100) {
    const writes = Array.from({ length: Math.min(100, blocks - first) }, (_, at): Write => {
      const cidr = blockAt(first + at);
      const block = {
        ...{ cidr, node: `node-${(first + at) >> 1}`, instance: 'i', state: 'confirmed' as const },
        ...{ claimedAt: 0, loans: [] },
      };
      return { op: 'put', key: keys.block(cidr), value: encodeObject(blockKind, block) };
    });
    await store.transact({ conditions: [], writes }, { signal });
  }
}

const blockAt = (number: number): string =>
  `10.${(number >> 10) & 15}.${(number >> 2) & 255}.${(number & 3) * 64}/26`;

async function claimInFullPool(
  store: Store,
  keys: Keys,
  { claims, signal, progress }: ClaimOptions,
): Promise<Omit<ClaimFigures, 'blocks'>> {
  const counted = countCalls(store);
  const register = registerPresence(keys, node);
  const bare = await startBareNode({ name: node, store: counted.store, keys, signal, register });
  try {
    // The first cache of the cluster is a list.
    const listed = counted.lists();
    const latencies: number[] = [];
    let calls = 0;
    for (let claim = 0; claim < claims; claim++) {
      const [before, begin] = [counted.claims(), performance.now()];
      // Asked for by name, so that what was claimed ahead does not count.
      const requested = [`10.15.${claim}.1`];
      await bare.addressing.provide({ network, families: [4], requested }, signal);
      latencies.push(performance.now() - begin);
      calls += counted.claims() - before;
      bare.ipam.allocate({ owner: `bench,${claim},eth0`, families: [4], requested });
      progress(claim + 1, claims);
    }
    const lists = counted.lists() - listed;
    return { claims, roundTrips: calls / claims, lists, latency: summarize(latencies) };
  } finally {
    await bare.close();
  }
}

/** Counts what goes to the store about blocks; confirmations in the background are told apart by what they write. */
function countCalls(store: Store): { store: Store; claims(): number; lists(): number } {
  let claims = 0;
  let lists = 0;
  return {
    store: {
      ...bind(store),
      get: (key, options) => {
        claims++;
        return store.get(key, options);
      },
      transact: (transaction, options) => {
        const isClaim = transaction.conditions.some(({ expect }) => expect === 'absent');
        if (isClaim) claims++;
        return store.transact(transaction, options);
      },
      list: (prefix, options) => {
        lists++;
        return store.list(prefix, options);
      },
    },
    claims: () => claims,
    lists: () => lists,
  };
}

/** Methods that are taken off their object. */
const bind = (store: Store): Store => ({
  kind: store.kind,
  limits: store.limits,
  get: (key, options) => store.get(key, options),
  put: (key, value, options) => store.put(key, value, options),
  delete: (key, options) => store.delete(key, options),
  transact: (transaction, options) => store.transact(transaction, options),
  list: (prefix, options) => store.list(prefix, options),
  watch: (prefix, options) => store.watch(prefix, options),
  grantLease: (ttl, options) => store.grantLease(ttl, options),
  close: () => store.close(),
});
