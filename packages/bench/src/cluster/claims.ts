/** What a claim costs in a pool that has thousands of blocks already, at a real etcd: round trips, and how long it takes. */
import { blockKind, type Keys, keysBelow, openClusterCopy, poolKind, presenceKind } from '@podwire/cluster';
import { createNodeAddressing, type HoldingsFile } from '@podwire/cluster-ipam';
import { createIpam } from '@podwire/ipam';
import { noFaults, silentLog, systemClock } from '@podwire/rim';
import { encodeObject, openStore, type Store, type Write } from '@podwire/store';
import { startEtcd } from '@podwire/testkit/etcd';
import { summarize, type Summary } from '../statistics.js';

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

const network = 'default';
const pool = {
  name: 'all',
  network,
  cidr: '10.0.0.0/12',
  blockSize: 26,
  encapsulation: 'direct' as const,
  natOutgoing: true,
  disabled: false,
  reserved: [],
  nodeSelector: '',
  assignment: 'automatic' as const,
  allocation: 'blocks' as const,
  borrowing: true,
  deleting: false,
};

export async function measureClaims(blocks = 10_000, claims = 200): Promise<ClaimFigures> {
  const etcd = await startEtcd();
  try {
    const store = await openStore(etcd.spec, { log: silentLog, clock: systemClock });
    const keys = keysBelow('/podwire');
    await fillPool(store, keys, blocks);
    const figures = await claimInFullPool(store, keys, claims);
    await store.close();
    return { blocks, ...figures };
  } finally {
    await etcd.close();
  }
}

/** Every block but some in between, as in a pool that is long in use. */
async function fillPool(store: Store, keys: Keys, count: number): Promise<void> {
  await store.put(keys.pool(pool.name), encodeObject(poolKind, pool));
  await store.put(
    keys.presence('bench'),
    encodeObject(presenceKind, { node: 'bench', instance: 'bench', since: 0 }),
  );
  for (let first = 0; first < count; first += 100) {
    const writes = Array.from({ length: Math.min(100, count - first) }, (_, at): Write => {
      const cidr = blockAt(first + at);
      const block = {
        ...{ cidr, node: `node-${(first + at) >> 1}`, instance: 'i', state: 'confirmed' as const },
        ...{ claimedAt: 0, loans: [] },
      };
      return { op: 'put', key: keys.block(cidr), value: encodeObject(blockKind, block) };
    });
    await store.transact({ conditions: [], writes });
  }
}

const blockAt = (number: number): string =>
  `10.${(number >> 10) & 15}.${(number >> 2) & 255}.${(number & 3) * 64}/26`;

async function claimInFullPool(
  store: Store,
  keys: Keys,
  claims: number,
): Promise<Omit<ClaimFigures, 'blocks'>> {
  const counted = countCalls(store);
  const copy = openClusterCopy({ store, keys, log: silentLog });
  await copy.synced;
  let file: HoldingsFile | undefined;
  const addressing = createNodeAddressing({
    node: 'bench',
    instance: 'bench',
    labels: {},
    store: counted.store,
    keys,
    copy,
    holdings: { read: () => file, write: (next) => void (file = next) },
    clock: systemClock,
    random: (bytes) => new Uint8Array(bytes),
    faults: noFaults,
    log: silentLog,
    trustFor: 86_400_000,
    reportEvery: 60_000,
  });
  const signal = AbortSignal.timeout(300_000);
  const ipam = createIpam({
    pools: addressing.pools(network),
    coolDown: 0,
    clock: () => Date.now(),
    blockSource: addressing.source(network),
  });
  addressing.attach(network, ipam);
  await addressing.start([], signal);
  ipam.setPools(addressing.pools(network));
  const latencies: number[] = [];
  let calls = 0;
  for (let claim = 0; claim < claims; claim++) {
    const [before, begin] = [counted.claims(), performance.now()];
    // Asked for by name, so that what was claimed ahead does not count.
    const address = `10.15.${claim}.1`;
    await addressing.provide({ network, families: [4], requested: [address] }, signal);
    latencies.push(performance.now() - begin);
    calls += counted.claims() - before;
    ipam.allocate({ owner: `bench,${claim},eth0`, families: [4], requested: [address] });
  }
  const lists = counted.lists();
  await addressing.stop();
  await copy.close();
  return { claims, roundTrips: calls / claims, lists, latency: summarize(latencies) };
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
