/** NetNamespaces and HostSubnets that a leader keeps, on a store in memory. */
import { machineLabel, type Node } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import {
  checkObject,
  createStoreSource,
  type HostSubnet,
  type NetNamespace,
  networkAnnotations,
  type ObjectSource,
} from '@podwire/objects';
import type { Store } from '@podwire/store';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestCluster, hour, type TestCluster } from './cluster.js';

const { changeNetwork, nodeUid } = networkAnnotations;
const group = 'network.openshift.io/v1';
/** Milliseconds, more than those in which changes are gathered. */
const moment = 20;

let cluster: TestCluster;
afterEach(() => cluster.stopAll());

type Fields = Readonly<Record<string, unknown>>;

function createSdnCluster() {
  cluster = createTestCluster();
  const { store, keys, clock } = cluster;
  const source = createStoreSource({ store, root: keys.root, clock });
  const apply = async (apiVersion: string, kind: string, name: string, fields: Fields = {}) => {
    const checked = checkObject({ apiVersion, kind, metadata: { name }, ...fields });
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    await source.save(checked.object, undefined);
  };
  const remove = (apiVersion: string, kind: string, name: string) =>
    source.delete({ apiVersion, kind, name });
  return {
    ...cluster,
    source,
    /** A ClusterNetwork with one range: by default of 4 subnets. */
    network: (range = '10.128.0.0/24', mode = 'multitenant') =>
      apply(group, 'ClusterNetwork', 'default', {
        ...{ serviceNetwork: '172.30.0.0/16', pluginName: `redhat/openshift-ovs-${mode}` },
        clusterNetworks: [{ CIDR: range, hostSubnetLength: 6 }],
      }),
    removeNetwork: () => remove(group, 'ClusterNetwork', 'default'),
    namespace: (name: string) => apply('v1', 'Namespace', name),
    removeNamespace: (name: string) => remove('v1', 'Namespace', name),
    /** As `oc adm pod-network` asks for it. */
    ask: async (name: string, request: string) => {
      const found = await source.get({ apiVersion: group, kind: 'NetNamespace', name });
      const { metadata } = found!.object;
      const object = {
        ...found!.object,
        metadata: { ...metadata, annotations: { [changeNetwork]: request } },
      };
      await source.save(object, undefined);
    },
    node: (number: number, more: Partial<Node> = {}) =>
      cluster.arrive(`n${number}`, undefined, {
        addresses: { ipv4: `192.168.0.${number}/24` },
        labels: { [machineLabel]: `machine-${number}` },
        ...more,
      }),
    removeNode: (number: number) => store.delete(keys.node(`n${number}`)),
    wait: () => clock.advance(moment),
    start: async (name?: string) => {
      const running = cluster.startController(name);
      await clock.advance(moment);
      return running;
    },
  };
}

const ofKind = async <T>(source: ObjectSource, kind: string): Promise<T[]> =>
  (await source.list({ kinds: [{ apiVersion: group, kind }] })).objects.map(({ object }) => object as T);

const vnidsOf = async ({ source }: { readonly source: ObjectSource }) =>
  Object.fromEntries(
    (await ofKind<NetNamespace>(source, 'NetNamespace')).map((each) => [each.netname, each.netid]),
  );

const subnetsOf = async ({ source }: { readonly source: ObjectSource }) =>
  Object.fromEntries(
    (await ofKind<HostSubnet>(source, 'HostSubnet')).map((each) => [each.host, each.subnet]),
  );

/** The store with some calls of another kind. */
const withMethods = (store: Store, methods: Partial<Store>): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

describe('without a ClusterNetwork', () => {
  test('nothing is written, and a change of a namespace or a node causes no call', async () => {
    const sdn = createSdnCluster();
    await sdn.namespace('shop');
    await sdn.node(1);
    const { controller, store } = await sdn.start();
    const { calls } = store;
    await sdn.namespace('bar');
    await sdn.store.put(sdn.keys.node('n1'), (await sdn.store.get(sdn.keys.node('n1')))!.value);
    await sdn.wait();
    expect(store.calls).toBe(calls);
    expect(controller.metrics()).toMatchObject({ leading: true, sdnPlans: 0, sdnChanges: 0, sdnProblems: 0 });
    expect(await vnidsOf(sdn)).toEqual({});
    expect(await sdn.store.get(sdn.keys.sdnGeneration)).toBeUndefined();
  });

  test('what was handed out stays, and nothing is added or removed', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.namespace('shop');
    await sdn.node(1);
    const { controller } = await sdn.start();
    const [vnids, subnets] = [await vnidsOf(sdn), await subnetsOf(sdn)];
    expect(vnids).toEqual({ default: 0, shop: 10 });
    expect(subnets).toEqual({ n1: '10.128.0.0/26' });
    await sdn.removeNetwork();
    await sdn.wait();
    await sdn.removeNamespace('shop');
    await sdn.removeNode(1);
    await sdn.namespace('bar');
    await sdn.wait();
    expect([await vnidsOf(sdn), await subnetsOf(sdn)]).toEqual([vnids, subnets]);
    expect(controller.problems()).toEqual([]);
    await sdn.network();
    await sdn.wait();
    expect([await vnidsOf(sdn), await subnetsOf(sdn)]).toEqual([{ default: 0, bar: 11 }, {}]);
  });
});

describe('a namespace', () => {
  test('has a VNID as soon as it is there, and none when it is gone', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    const { controller } = await sdn.start();
    expect(await vnidsOf(sdn)).toEqual({ default: 0 });
    await sdn.namespace('a');
    await sdn.namespace('b');
    await sdn.wait();
    expect(await vnidsOf(sdn)).toEqual({ default: 0, a: 10, b: 11 });
    await sdn.removeNamespace('a');
    await sdn.wait();
    await sdn.namespace('c');
    await sdn.wait();
    expect(await vnidsOf(sdn)).toEqual({ default: 0, b: 11, c: 12 });
    expect(controller.metrics()).toMatchObject({ sdnChanges: 5, failures: 0 });
  });

  test('keeps its NetNamespace when its own object cannot be read', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.namespace('shop');
    await sdn.start();
    await sdn.store.put(`${sdn.keys.root}/objects/core/Namespace/_/shop`, 'not JSON');
    await sdn.wait();
    expect(await vnidsOf(sdn)).toEqual({ default: 0, shop: 10 });
  });

  test('joins another, is isolated again, and becomes global, and each annotation goes with its answer', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.namespace('a');
    await sdn.namespace('b');
    await sdn.start();
    for (const [request, vnid] of [
      ['join:a', 10],
      ['isolate', 12],
      ['global', 0],
    ] as const) {
      await sdn.ask('b', request);
      await sdn.wait();
      expect(await vnidsOf(sdn)).toEqual({ default: 0, a: 10, b: vnid });
      const all = await ofKind<NetNamespace>(sdn.source, 'NetNamespace');
      expect(all.map(({ metadata }) => metadata.annotations)).toEqual([undefined, undefined, undefined]);
    }
  });

  test('that cannot join is reported until it can', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.namespace('a');
    const { controller } = await sdn.start();
    await sdn.ask('a', 'join:b');
    await sdn.wait();
    expect(controller.problems()).toEqual([
      'SDN_CHANGE_REFUSED: netnamespace a: cannot join b, which has no NetNamespace',
    ]);
    expect(controller.metrics().sdnProblems).toBe(1);
    await sdn.namespace('b');
    await sdn.wait();
    expect(controller.problems()).toEqual([]);
    expect(await vnidsOf(sdn)).toEqual({ default: 0, a: 11, b: 11 });
  });
});

describe('a node', () => {
  test('has a subnet as soon as it is there, and none when its object is gone', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.start();
    await sdn.node(1);
    await sdn.node(2);
    await sdn.wait();
    expect(await subnetsOf(sdn)).toEqual({ n1: '10.128.0.0/26', n2: '10.128.0.64/26' });
    const [first] = await ofKind<HostSubnet>(sdn.source, 'HostSubnet');
    expect(first).toMatchObject({
      hostIP: '192.168.0.1',
      metadata: { annotations: { [nodeUid]: 'machine-1' } },
    });
    await sdn.removeNode(1);
    await sdn.wait();
    expect(await subnetsOf(sdn)).toEqual({ n2: '10.128.0.64/26' });
  });

  const replace = async (sdn: ReturnType<typeof createSdnCluster>, labels: Node['labels']) => {
    await sdn.removeNode(1);
    await sdn.node(1, { instance: 'another', labels, addresses: { ipv4: '192.168.0.9/24' } });
    await sdn.wait();
  };

  test('keeps its subnet over a reboot, and when it is unreachable', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1);
    const controller = await sdn.start();
    await controller.stop();
    await replace(sdn, { [machineLabel]: 'machine-1', zone: 'b' });
    await sdn.start();
    await sdn.leave('n1');
    await sdn.wait();
    const [subnet] = await ofKind<HostSubnet>(sdn.source, 'HostSubnet');
    expect(subnet).toMatchObject({ subnet: '10.128.0.0/26', hostIP: '192.168.0.9' });
  });

  test('has another subnet than another machine under its name had', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1);
    await sdn.start();
    await replace(sdn, { [machineLabel]: 'machine-2' });
    expect(await subnetsOf(sdn)).toEqual({ n1: '10.128.0.64/26' });
  });

  test('is known by its name where its machine has no id', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1, { labels: {} });
    await sdn.start();
    await replace(sdn, {});
    const [subnet] = await ofKind<HostSubnet>(sdn.source, 'HostSubnet');
    expect(subnet).toMatchObject({
      subnet: '10.128.0.0/26',
      metadata: { annotations: { [nodeUid]: 'name:n1' } },
    });
  });

  test('keeps its subnet when its object cannot be read, under another leader too', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1);
    const first = await sdn.start();
    await first.stop();
    await sdn.store.put(sdn.keys.node('n1'), 'not JSON');
    await sdn.start();
    expect(await subnetsOf(sdn)).toEqual({ n1: '10.128.0.0/26' });
  });

  test('that gets no subnet is reported, and has one as soon as another has given its own back', async () => {
    const sdn = createSdnCluster();
    await sdn.network('10.128.0.0/25');
    for (const number of [1, 2, 3]) await sdn.node(number);
    const { controller } = await sdn.start();
    expect(controller.problems()).toEqual(['SDN_EXHAUSTED: no subnet is free for n3 in 10.128.0.0/25']);
    expect(controller.metrics().sdnProblems).toBe(1);
    await sdn.removeNode(1);
    await sdn.wait();
    expect(await subnetsOf(sdn)).toEqual({ n2: '10.128.0.64/26', n3: '10.128.0.0/26' });
    expect(controller.problems()).toEqual([]);
  });

  test('outside the ranges of a ClusterNetwork that has changed keeps its subnet, and is reported', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1);
    const { controller } = await sdn.start();
    await sdn.network('10.200.0.0/24');
    await sdn.node(2);
    await sdn.wait();
    expect(await subnetsOf(sdn)).toEqual({ n1: '10.128.0.0/26', n2: '10.200.0.0/26' });
    expect(controller.problems()).toEqual([
      'SDN_CONFLICT: the subnet 10.128.0.0/26 of n1 lies in no range of the cluster: 10.200.0.0/24',
    ]);
  });
});

describe('leadership', () => {
  test('a leader that lost its lock in the middle of a plan writes no more of it', async () => {
    const sdn = createSdnCluster();
    for (let number = 0; number < 200; number++) await sdn.namespace(`ns-${number}`);
    let transactions = 0;
    /** The second transaction of the plan is on its way while another leader takes over. */
    const lose = (store: Store): Store =>
      withMethods(store, {
        transact: async (transaction, options) => {
          const isPlan = transaction.writes.some(({ key }) => key === sdn.keys.sdnGeneration);
          if (!isPlan || ++transactions < 2) return store.transact(transaction, options);
          await sdn.store.put(sdn.keys.leader, 'another leader');
          return store.transact(transaction);
        },
      });
    const { controller } = sdn.startController('a', 0, lose);
    await sdn.wait();
    await sdn.network();
    await sdn.wait();
    const written = Object.keys(await vnidsOf(sdn)).length;
    expect(transactions).toBeGreaterThan(1);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(201);
    await sdn.clock.advance(1_000);
    expect(Object.keys(await vnidsOf(sdn))).toHaveLength(written);
    expect(controller.metrics()).toMatchObject({ leading: false, sdnChanges: 0 });
  });

  test('the next leader finishes the plan of one that died, and gives no VNID twice', async () => {
    const sdn = createSdnCluster();
    for (let number = 0; number < 200; number++) await sdn.namespace(`ns-${number}`);
    const first = await sdn.start('a');
    let transactions = 0;
    first.store.faults.decide = ({ operation, key }) =>
      operation === 'transact' && key === sdn.keys.sdnGeneration && ++transactions > 1
        ? 'request-lost'
        : undefined;
    const second = await sdn.start('b');
    await sdn.network();
    await sdn.wait();
    await first.kill();
    await sdn.clock.advance(hour);
    const vnids = await vnidsOf(sdn);
    expect(second.controller.metrics()).toMatchObject({ leading: true, sdnProblems: 0 });
    expect(Object.keys(vnids)).toHaveLength(201);
    expect(new Set(Object.values(vnids)).size).toBe(201);
  });
});

describe('a store that is away', () => {
  test('is asked again, and what has changed meanwhile is made up for', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.namespace('shop');
    const { controller, store } = await sdn.start();
    store.cut();
    await sdn.namespace('bar');
    await sdn.removeNamespace('shop');
    await sdn.clock.advance(5_000);
    expect(await vnidsOf(sdn)).toEqual({ default: 0, shop: 10 });
    store.restore();
    await sdn.clock.advance(moment);
    expect(await vnidsOf(sdn)).toEqual({ default: 0, bar: 11 });
    expect(controller.metrics().leading).toBe(true);
  });

  test('in the middle of a plan is asked again with growing pauses', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    const { controller, store } = await sdn.start();
    const refused: number[] = [];
    store.faults.decide = ({ operation }) => {
      if (operation !== 'transact') return undefined;
      refused.push(sdn.clock.elapsed());
      return 'unavailable';
    };
    await sdn.namespace('shop');
    await sdn.clock.advance(1_000);
    expect(refused.map((at) => at - refused[0]!)).toEqual([0, 100, 300, 700]);
    expect(controller.metrics().failures).toBe(4);
    delete store.faults.decide;
    await sdn.clock.advance(1_000);
    expect(await vnidsOf(sdn)).toEqual({ default: 0, shop: 10 });
  });

  test('that denies the objects does not end the rest of the controller, and is asked again', async () => {
    const sdn = createSdnCluster();
    await sdn.network();
    await sdn.node(1);
    let isDenied = true;
    const deny = (store: Store): Store =>
      withMethods(store, {
        watch: (prefix, options) => {
          if (isDenied && prefix.includes('ClusterNetwork')) throw new PodwireError('STORE_DENIED', 'no');
          return store.watch(prefix, options);
        },
      });
    const { controller } = sdn.startController('c', 0, deny);
    await sdn.wait();
    await sdn.leave('n1');
    await sdn.wait();
    expect(controller.metrics()).toMatchObject({ leading: true, unreachable: 1, failures: 1 });
    isDenied = false;
    await sdn.clock.advance(30_000);
    expect(await subnetsOf(sdn)).toEqual({ n1: '10.128.0.0/26' });
  });
});
