// Cost of a claim in a pool with 10,000 blocks, and of an ADD on a node. Prints figures, checks nothing.
//   npm run bench -w @podwire/cluster-ipam
import {
  blockKind,
  completePool,
  keysBelow,
  openClusterCache,
  poolKind,
  nodeLeaseKind,
} from '@podwire/cluster-state';
import { createNodeAddressing } from '@podwire/cluster-ipam';
import { createIpam } from '@podwire/ipam';
import { noFaults, silentLog, systemClock } from '@podwire/platform';
import { encodeObject } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { randomBytes } from 'node:crypto';

const taken = Number(process.argv[2] ?? 10_000);
const keys = keysBelow('/bench');
const network = 'pods';
const signal = new AbortController().signal;
const server = createMemoryServer();
const store = server.connect();
const pool = completePool({ name: 'wide', network, cidr: '10.0.0.0/12', encapsulation: 'direct' });
await store.put(keys.pool(pool.name), encodeObject(poolKind, pool));
for (let n = 0; n < taken; n++) {
  const cidr = `10.${n >> 10}.${(n >> 2) & 255}.${(n & 3) * 64}/26`;
  const block = { cidr, node: `node-${n >> 1}`, instance: 'i', state: 'confirmed', claimedAt: 1, loans: [] };
  await store.put(keys.block(cidr), encodeObject(blockKind, block));
}
const presence = { node: 'bench', instance: 'i', since: 1 };
await store.put(keys.nodeLease('bench'), encodeObject(nodeLeaseKind, presence));

const cacheStart = performance.now();
const cache = openClusterCache({ store, keys, log: silentLog });
await cache.synced;
console.log(`cache of ${taken} blocks: ${(performance.now() - cacheStart).toFixed(0)} ms`);

let file;
const start = performance.now();
const addressing = createNodeAddressing({
  node: 'bench',
  instance: 'i',
  labels: {},
  store,
  keys,
  cache,
  savedState: { read: () => file, write: (next) => void (file = next) },
  clock: systemClock,
  random: randomBytes,
  faults: noFaults,
  log: silentLog,
  fenceAfter: 60_000,
  reportEvery: 1_000,
});
const ipam = createIpam({ pools: [], clock: Date.now, coolDown: 0, blockSource: addressing.source(network) });
addressing.attach(network, ipam);
await addressing.start([], signal);
ipam.setPools(addressing.pools(network));
console.log(`node ready: ${(performance.now() - start).toFixed(0)} ms`);

// Every claim is made by name: each needs a block of its own, and none is in stock.
const count = 500;
const base = taken + 500;
const before = store.calls;
const claimStart = performance.now();
for (let n = 0; n < count; n++) {
  const at = base + n;
  const requested = [`10.${at >> 10}.${(at >> 2) & 255}.${(at & 3) * 64 + 1}`];
  await addressing.provide({ network, families: [4], requested }, signal);
}
const took = performance.now() - claimStart;
console.log(
  `claims: ${((took * 1000) / count).toFixed(0)} µs each, ${(store.calls - before) / count} calls each (with confirmations)`,
);

const pods = 5_000;
const addStart = performance.now();
for (let n = 0; n < pods; n++) {
  const owner = `podwire,${n},eth0`;
  const [lease] = ipam.allocate({ owner });
  addressing.requireUnfenced();
  addressing.noteUsed({ address: lease.address, owner, since: lease.since });
}
console.log(`allocate + note: ${(((performance.now() - addStart) * 1000) / pods).toFixed(1)} µs each`);
await addressing.stop();
await cache.close();
await store.close();
