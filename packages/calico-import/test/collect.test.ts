/** Objects that an import has written wait for their nodes, however long they take. */
import { applyImport, planImport, readCalicoDump, readImportState } from '@podwire/calico-import';
import { type Block, blockKind, nodeKind } from '@podwire/cluster-state';
import { createCollector, fixCluster, readCluster, releaseNode } from '@podwire/cluster-ipam/operations';
import { type Clock, systemClock } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';
import { createMemoryStore } from '@podwire/store/memory';
import { beforeEach, describe, expect, it } from 'vitest';
import { crdBlock, type Json, pool } from './support/calico.js';
import { keys } from './support/plan.js';

const { signal } = new AbortController();
const day = 24 * 60 * 60_000;

const objects: readonly Json[] = [
  pool('p', '10.0.0.0/16'),
  crdBlock('10.0.0.0/26', 'host:n1', [
    { ordinal: 1, handle: 'a', node: 'n1', pod: 'default/web' },
    { ordinal: 2, handle: 'b', node: 'n2', pod: 'default/far' },
  ]),
  crdBlock('10.0.0.64/26', null, [{ ordinal: 3, handle: 'c', node: 'n3', pod: 'default/left' }]),
];

let store: Store;
let time: number;
const clock: Clock = {
  now: () => Date.parse('2026-01-01T00:00:00Z') + time,
  elapsed: () => time,
  sleep: () => Promise.resolve(),
};
const access = () => ({ store, keys, clock });

beforeEach(async () => {
  time = 0;
  store = createMemoryStore();
  const dump = readCalicoDump([{ name: 'd', text: JSON.stringify({ kind: 'List', items: objects }) }]);
  const plan = planImport(dump, await readImportState(store, keys, signal), { network: 'default' });
  await applyImport(plan, { store, clock: systemClock, signal });
});

const contents = async () => (await store.list('/')).items.map(({ key, value }) => `${key} ${value}`);

/** Two days of garbage collection. */
async function collect(): Promise<void> {
  const collector = createCollector();
  for (let turn = 0; turn < 8; turn++) {
    time += day / 4;
    await collector.collect(access(), signal);
  }
}

async function adopt(cidr: string, node: string): Promise<void> {
  const { blocks } = await readCluster(access(), signal);
  const block: Block = { ...blocks.get(cidr)!.value, instance: 'boot-1' };
  await store.put(keys.block(cidr), encodeObject(blockKind, block));
  const registered = {
    name: node,
    instance: 'boot-1',
    version: '1',
    labels: {},
    addresses: {},
    mtu: 1500,
    registeredAt: 0,
  };
  await store.put(keys.node(node), encodeObject(nodeKind, registered));
}

describe('what was imported', () => {
  it('is not collected before its node has joined', async () => {
    const before = await contents();
    await collect();
    const { repaired } = await fixCluster(access(), {}, signal);
    expect(repaired).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  it('stays borrowed when the block’s owner was faster than the borrower', async () => {
    await adopt('10.0.0.0/26', 'n1');
    const before = await contents();
    await collect();
    expect(await contents()).toEqual(before);
  });

  it('goes when an operator forgets its node', async () => {
    await adopt('10.0.0.0/26', 'n1');
    await releaseNode(access(), 'n2', {}, signal);
    await releaseNode(access(), 'n3', {}, signal);
    const { blocks, allocationRecords } = await readCluster(access(), signal);
    expect([...blocks.values()].map(({ value }) => [value.cidr, value.loans])).toEqual([['10.0.0.0/26', []]]);
    expect(allocationRecords.map(({ value }) => value.node)).toEqual(['n1']);
  });
});
