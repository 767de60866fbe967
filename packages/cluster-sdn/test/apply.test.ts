/** Plans that are carried out in a store, by several controllers at a time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keysBelow } from '@podwire/cluster-state';
import { createStoreSource, DecodeCache, type ObjectCache, type ObjectSource } from '@podwire/objects';
import type { Store } from '@podwire/store';
import { createMemoryServer, type MemoryFaults } from '@podwire/store/memory';
import { applyPlan, type ApplyOptions, planCluster, readSdnObjects, type SdnCluster } from '../src/index.js';
import { clusterNetwork, netNamespace, node, problemsOf, subnetOf, subnetsOf, vnidsOf } from './support.js';

const clock = { now: () => 1_000, elapsed: () => 0, sleep: () => Promise.resolve() };
const keys = keysBelow('/podwire');
const { signal } = new AbortController();

interface Fixture {
  readonly source: ObjectSource;
  readonly connect: (faults?: MemoryFaults) => Store;
}

async function createStore(): Promise<Fixture> {
  const server = createMemoryServer({ clock });
  const source = createStoreSource({ store: server.connect(), root: keys.root, clock });
  await source.save(clusterNetwork(), undefined);
  return { source, connect: (faults) => server.connect(faults) };
}

type Rest = Pick<SdnCluster, 'namespaces' | 'nodes'>;

const look = async (store: Store, rest: Rest) => {
  const snapshot = await readSdnObjects(store, keys, signal);
  return { cluster: { objects: snapshot.objects, ...rest }, snapshot };
};

const optionsFor = (store: ApplyOptions['store'], more: Partial<ApplyOptions> = {}): ApplyOptions => ({
  ...{ store, keys, clock, signal },
  ...more,
});

/** A controller that keeps what it finds, and wants something new beside it; until that is there. */
async function control(store: Store, wanted: Rest): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const { cluster, snapshot } = (await look(store, wanted).catch(() => undefined)) ?? {};
    if (cluster === undefined || snapshot === undefined) continue;
    const known = Object.keys(vnidsOf(cluster));
    const there = cluster.objects.hostSubnets.map(({ object }) => node(Number(object.host.slice(1))));
    const own = wanted.nodes.filter(({ name }) => there.every((each) => each.name !== name));
    const namespaces = [...new Set([...known, ...wanted.namespaces])];
    const plan = planCluster({ ...cluster, namespaces, nodes: [...there, ...own] });
    expect(plan.problems).toEqual([]);
    if (plan.changes.length === 0) return;
    await applyPlan(plan, snapshot, optionsFor(store)).catch(() => false);
  }
  throw new Error('it does not come to rest');
}

/** Every call waits for its turn, which the scheduler decides. */
const schedule = (scheduler: fc.Scheduler, store: Store): Store => ({
  ...store,
  kind: store.kind,
  limits: store.limits,
  get: scheduler.scheduleFunction((...call: Parameters<Store['get']>) => store.get(...call)),
  list: scheduler.scheduleFunction((...call: Parameters<Store['list']>) => store.list(...call)),
  transact: scheduler.scheduleFunction((...call: Parameters<Store['transact']>) => store.transact(...call)),
});

describe('a plan', () => {
  test('is written with the objects, and leaves nothing for the next', async () => {
    const { source, connect } = await createStore();
    const rest = { namespaces: ['shop'], nodes: [node(1)] };
    const { cluster, snapshot } = await look(connect(), rest);
    expect(snapshot.generation).toBe('absent');
    expect(await applyPlan(planCluster(cluster), snapshot, optionsFor(connect()))).toBe(true);
    const { objects } = await source.list();
    expect(objects.map(({ object, created }) => [object.kind, object.metadata.name, created])).toEqual([
      ['ClusterNetwork', 'default', 1_000],
      ['HostSubnet', 'n1', 1_000],
      ['NetNamespace', 'default', 1_000],
      ['NetNamespace', 'shop', 1_000],
    ]);
    const next = await look(connect(), rest);
    expect(planCluster(next.cluster)).toMatchObject({ changes: [], problems: [] });
    expect(next.snapshot.generation).toBeGreaterThan(0);
  });

  test('keeps where an object comes from and how old it is', async () => {
    const { source, connect } = await createStore();
    const origin = { file: 'sdn.yaml', line: 3 };
    const saved = subnetOf({ ...node(1), address: '192.168.9.9' }, '10.128.0.0/23');
    await source.save(saved, origin);
    const { cluster, snapshot } = await look(connect(), { namespaces: [], nodes: [node(1)] });
    const later = { ...clock, now: () => 2_000 };
    await applyPlan(planCluster(cluster), snapshot, optionsFor(connect(), { clock: later }));
    const reference = { apiVersion: saved.apiVersion, kind: saved.kind, name: 'n1' };
    expect(await source.get(reference)).toMatchObject({
      origin,
      created: 1_000,
      object: { hostIP: '192.168.0.2' },
    });
  });

  test('replaces an object in two transactions', async () => {
    const { source, connect } = await createStore();
    await source.save(subnetOf(node(1), '10.128.0.0/23'), undefined);
    const { cluster, snapshot } = await look(connect(), { namespaces: [], nodes: [node(1, 'another')] });
    const plan = planCluster(cluster, { vnid: 10, subnets: { '10.128.0.0/14': 1 } });
    expect(await applyPlan(plan, snapshot, optionsFor(connect()))).toBe(true);
    expect(subnetsOf((await look(connect(), { namespaces: [], nodes: [] })).cluster)).toEqual({
      n1: '10.129.0.0/23',
    });
  });

  test('that was cut off is finished by the next, with cursors of its own', async () => {
    const { connect } = await createStore();
    const namespaces = Array.from({ length: 300 }, (_, number) => `ns-${number}`);
    const nodes = Array.from({ length: 30 }, (_, number) => node(number));
    const { cluster, snapshot } = await look(connect(), { namespaces, nodes });
    let calls = 0;
    const faults: MemoryFaults = {
      decide: ({ operation }) => (operation === 'transact' && ++calls === 2 ? 'unavailable' : undefined),
    };
    await expect(
      applyPlan(planCluster(cluster), snapshot, optionsFor(connect(faults))),
    ).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    const again = await look(connect(), { namespaces, nodes });
    const left = planCluster(again.cluster, { vnid: 200, subnets: {} });
    expect(left.changes.length).toBe(331 - 126);
    expect(await applyPlan(left, again.snapshot, optionsFor(connect()))).toBe(true);
    const done = (await look(connect(), { namespaces, nodes })).cluster;
    expect(new Set(Object.values(vnidsOf(done))).size).toBe(301);
    expect(new Set(Object.values(subnetsOf(done))).size).toBe(30);
    expect(problemsOf(planCluster(done))).toEqual([]);
  });

  test('is not written under a guard that does not hold', async () => {
    const { connect } = await createStore();
    const store = connect();
    const { cluster, snapshot } = await look(store, { namespaces: ['shop'], nodes: [] });
    const guard = [{ key: keys.leader, expect: 7 }];
    expect(await applyPlan(planCluster(cluster), snapshot, optionsFor(store, { guard }))).toBe(false);
    expect((await look(store, { namespaces: [], nodes: [] })).cluster.objects.netNamespaces).toEqual([]);
  });

  test('is not written when the ranges have changed in the meantime', async () => {
    const { source, connect } = await createStore();
    const { cluster, snapshot } = await look(connect(), { namespaces: [], nodes: [node(1)] });
    await source.save(clusterNetwork('multitenant', ['10.200.0.0/16', 8]), undefined);
    expect(await applyPlan(planCluster(cluster), snapshot, optionsFor(connect()))).toBe(false);
  });

  test('does not overwrite what a person has changed in the meantime', async () => {
    const { source, connect } = await createStore();
    await source.save(subnetOf(node(1), '10.128.0.0/23'), undefined);
    const { cluster, snapshot } = await look(connect(), {
      namespaces: [],
      nodes: [{ ...node(1), address: '192.168.9.9' }],
    });
    await source.save(subnetOf(node(1), '10.130.0.0/23'), undefined);
    expect(await applyPlan(planCluster(cluster), snapshot, optionsFor(connect()))).toBe(false);
    expect(subnetsOf((await look(connect(), { namespaces: [], nodes: [] })).cluster)).toEqual({
      n1: '10.130.0.0/23',
    });
  });
});

describe('looks with one decoder', () => {
  test('see each change and deletion, and share what has not changed', async () => {
    const { source, connect } = await createStore();
    await source.save(netNamespace('a', 10), undefined);
    await source.save(netNamespace('b', 11), undefined);
    const decoder: ObjectCache = new DecodeCache();
    const take = async () => (await readSdnObjects(connect(), keys, signal, decoder)).objects.netNamespaces;
    const [a, b] = await take();
    await source.save(netNamespace('b', 12), undefined);
    const [sameA, otherB] = await take();
    expect(sameA).toBe(a);
    expect([b, otherB].map((each) => each?.object.netid)).toEqual([11, 12]);
    await source.delete({ apiVersion: 'network.openshift.io/v1', kind: 'NetNamespace', name: 'a' });
    expect((await take()).map(({ object }) => object.netname)).toEqual(['b']);
  });
});

describe('controllers at the same time', () => {
  test('of two that saw the same VNID as free, one writes', async () => {
    const { source, connect } = await createStore();
    await source.save(netNamespace('default', 0), undefined);
    const [one, two] = [connect(), connect()];
    const first = await look(one, { namespaces: ['a'], nodes: [] });
    const second = await look(two, { namespaces: ['b'], nodes: [] });
    expect(await applyPlan(planCluster(first.cluster), first.snapshot, optionsFor(one))).toBe(true);
    expect(await applyPlan(planCluster(second.cluster), second.snapshot, optionsFor(two))).toBe(false);
  });

  const share = fc.constantFrom<'answer-lost' | 'request-lost' | 'conflict' | undefined>(
    ...(['answer-lost', 'request-lost', 'conflict'] as const),
    ...Array.from({ length: 9 }, () => undefined),
  );

  test('hand nothing out twice, in whatever order their calls are answered, and when answers are lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(share, { maxLength: 20 }), async (scheduler, faults) => {
        const { connect } = await createStore();
        const left = [...faults];
        const decide = () => left.pop();
        const controllers = [0, 1, 2].map((number) =>
          control(schedule(scheduler, connect({ decide })), {
            namespaces: [`a${number}`, `b${number}`],
            nodes: [node(number)],
          }),
        );
        await scheduler.waitFor(Promise.all(controllers));
        const { cluster } = await look(connect(), { namespaces: [], nodes: [] });
        const vnids = vnidsOf(cluster);
        expect(Object.keys(vnids)).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'default']);
        expect(new Set(Object.values(vnids)).size).toBe(7);
        expect(new Set(Object.values(subnetsOf(cluster))).size).toBe(3);
      }),
      { numRuns: 25 },
    );
  });
});
