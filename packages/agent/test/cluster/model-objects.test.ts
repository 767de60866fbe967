/** A model whose nodes and pods wait for what objects of the cluster say of them. */
import { PodwireError } from '@podwire/errors';
import { type Attachment, endpointKey, type NetworkModel } from '@podwire/network-contract';
import { type AnyObject, encodeStoredObject, objectKey, referenceOf } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { expect, test, vi } from 'vitest';
import { ObjectFactStore } from '../../src/cluster/object-facts.js';
import { openObjectJournal } from '../../src/cluster/object-journal.js';
import { describeUnresolved, followAttachments } from '../../src/endpoints/follow-attachments.js';
import { indexModels, networkModels } from '../../src/models.js';
import {
  createMemoryFiles,
  createTestCluster,
  keys,
  type NodeOptions,
  type TestCluster,
  type TestNode,
  until,
} from '../fakes/cluster.js';

const apiVersion = 'network.openshift.io/v1';

declare module '@podwire/planner' {
  interface FactKinds {
    'test-project': { readonly netid: number } | undefined;
  }
}

declare module '@podwire/network-contract' {
  interface Attachment {
    readonly project?: number;
  }
}

/** The model of the registry, with addresses and projects of OpenShift's objects. */
const model: NetworkModel = {
  ...networkModels[0],
  needsTunnelAddress: () => false,
  objects: [
    {
      ...{ fact: 'test-project', apiVersion, kind: 'NetNamespace' },
      read: ({ netid }: { readonly netid: number }) => ({ netid }),
    },
    {
      ...{ fact: 'test-subnet', apiVersion, kind: 'HostSubnet' },
      read: ({ subnet }: { readonly subnet: string }) => ({ subnet }),
    },
  ],
  subnets: {
    fact: 'test-subnet',
    pools: () => [{ name: 'pods', cidr: '10.128.0.0/14', encapsulation: 'direct' }],
    of: (fact) => (fact === undefined ? [] : [(fact as { subnet: string }).subnet]),
  },
  resolve({ namespace }, _, read): Attachment {
    const found = read(`test-project/${namespace ?? ''}`);
    if (found === undefined) throw new PodwireError('PROJECT_UNKNOWN', `${namespace} has no VNID yet`);
    return { project: found.netid };
  },
};

const startNode = async (
  cluster: TestCluster,
  name: string,
  options: NodeOptions = {},
): Promise<TestNode> => {
  const node = cluster.node(name, { dependencies: { models: indexModels([model]) }, ...options });
  await node.start();
  return node;
};

async function apply({ store }: TestCluster, object: AnyObject & Record<string, unknown>): Promise<void> {
  await store.put(objectKey(keys.root, referenceOf(object)), encodeStoredObject(object, undefined, 0));
}

const hostSubnet = (host: string, subnet: string) => ({
  ...{ apiVersion, kind: 'HostSubnet', metadata: { name: host }, host, hostIP: '192.0.2.9', subnet },
});
const netNamespace = (name: string, netid: number) => ({
  ...{ apiVersion, kind: 'NetNamespace', metadata: { name }, netname: name, netid },
});

const addPod = (node: TestNode, id: string) =>
  node.call('ADD', { id, args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${id}` });

test('a node is not ready before it has its subnet', async () => {
  const cluster = createTestCluster();
  const node = await startNode(cluster, 'n1');
  const refused = await addPod(node, 'web');
  expect([refused.json.code, refused.json.msg]).toEqual([
    11,
    'AGENT_NOT_READY: this node has no subnet of network default yet: `podwire status` of the node that leads the controllers says why, unless it is new',
  ]);
  await apply(cluster, netNamespace('shop', 42));
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  await until(() => node.context.readiness.ready);
  expect((await addPod(node, 'web')).json.ips).toMatchObject([{ address: '10.129.0.2/32' }]);
});

test('an ADD waits for the project of its pod', async () => {
  const cluster = createTestCluster();
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  const node = await startNode(cluster, 'n1');
  await until(() => node.context.readiness.ready);
  let isDone = false;
  const adding = addPod(node, 'web').finally(() => (isDone = true));
  await apply(cluster, netNamespace('bank', 43));
  await until(() => node.context.desired.read('test-project/bank') !== undefined);
  expect(isDone).toBe(false);
  await apply(cluster, netNamespace('shop', 42));
  expect((await adding).ok).toBe(true);
  expect(node.context.endpoints.all().map(({ endpoint }) => endpoint.attachment)).toEqual([{ project: 42 }]);
});

test('the subnet of another node is behind that node', async () => {
  const cluster = createTestCluster();
  const one = await startNode(cluster, 'n1');
  await startNode(cluster, 'n2');
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  await apply(cluster, hostSubnet('n2', '10.130.0.0/23'));
  const blocks = () => one.member.peers.known.get('n2')?.blocks ?? [];
  await until(() => blocks().includes('10.130.0.0/23'));
});

test('a pod whose project changes while it is wired moves when its ADD is over', async () => {
  const cluster = createTestCluster();
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  await apply(cluster, netNamespace('shop', 42));
  const node = await startNode(cluster, 'n1');
  const { context, member } = node;
  await until(() => context.readiness.ready);
  expect((await addPod(node, 'web')).ok).toBe(true);
  const following = followAttachments(context, member, systemClock);
  const [record] = context.endpoints.all();
  // As an ADD does it, from its plan to its end.
  await context.locks.withKey(endpointKey(record!.id), AbortSignal.timeout(30_000), async () => {
    context.endpoints.put({ ...record!, phase: 'wiring' });
    await apply(cluster, netNamespace('shop', 43));
    await until(() => context.desired.read('test-project/shop')?.netid === 43);
    context.endpoints.put(record!);
  });
  await until(() => context.endpoints.all()[0]!.endpoint.attachment?.project === 43);
  await following.stop();
});

test('pods whose project is gone stay in it, and status names them', async () => {
  const cluster = createTestCluster();
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  await apply(cluster, netNamespace('shop', 42));
  const { context, member, ...node } = await startNode(cluster, 'n1');
  await until(() => context.readiness.ready);
  for (const id of ['web', 'db']) expect((await addPod({ context, member, ...node }, id)).ok).toBe(true);
  expect(describeUnresolved(context)).toEqual([]);
  await cluster.store.delete(objectKey(keys.root, referenceOf(netNamespace('shop', 42))));
  await until(() => describeUnresolved(context).length > 0);
  expect(describeUnresolved(context)).toEqual([
    'PROJECT_UNKNOWN: shop has no VNID yet; pod shop/web and 1 more stay what they were',
  ]);
  expect(context.endpoints.all().map(({ endpoint }) => endpoint.attachment?.project)).toEqual([42, 42]);
});

test('an agent that starts without the store has subnets and projects as they were', async () => {
  const cluster = createTestCluster();
  await apply(cluster, hostSubnet('n1', '10.129.0.0/23'));
  await apply(cluster, netNamespace('shop', 42));
  const node = await startNode(cluster, 'n1');
  expect((await addPod(node, 'web')).ok).toBe(true);
  await node.stop();
  const next = node.again({ cut: true });
  await next.start();
  expect((await addPod(next, 'db')).ok).toBe(true);
  expect(next.context.endpoints.all().map(({ endpoint }) => endpoint.attachment?.project)).toEqual([42, 42]);
});

test('what is deleted while the agent is away is gone afterwards', async () => {
  const cluster = createTestCluster();
  await apply(cluster, netNamespace('shop', 42));
  const node = await startNode(cluster, 'n1');
  const vnidOf = ({ context }: TestNode) => context.desired.read('test-project/shop')?.netid;
  await until(() => vnidOf(node) === 42);
  await node.stop();
  await cluster.store.delete(objectKey(keys.root, { apiVersion, kind: 'NetNamespace', name: 'shop' }));
  const next = node.again();
  expect(vnidOf(next)).toBe(42);
  await next.start();
  await until(() => vnidOf(next) === undefined);
});

test('an object that becomes unreadable counts as it was, and is a problem', async () => {
  const cluster = createTestCluster();
  await apply(cluster, netNamespace('shop', 42));
  const node = await startNode(cluster, 'n1');
  await until(() => node.context.desired.read('test-project/shop') !== undefined);
  await apply(cluster, netNamespace('shop', -1));
  await until(() => node.member.problems().length > 0);
  expect(node.member.problems().join()).toMatch(
    /^OBJECT_INVALID: .*NetNamespace\/_\/shop: .*netid.*what it said before counts/,
  );
  expect(node.context.desired.read('test-project/shop')).toEqual({ netid: 42 });
});

test('a node has the facts that are for it, and the set of their names changes as they come and go', async () => {
  const { store } = createTestCluster();
  const kind = {
    ...{ fact: 'test-subnet', names: 'test-subnets', apiVersion, kind: 'HostSubnet' },
    isOfNode: ({ host }: { readonly host: string }, node: string) => host === node,
    read: ({ subnet }: { readonly subnet: string }) => ({ subnet }),
  };
  const journal = openObjectJournal(createMemoryFiles(), silentLog);
  const objects = new ObjectFactStore({
    ...{
      kinds: [kind],
      nodeName: 'one',
      store,
      root: keys.root,
      journal,
      clock: systemClock,
      log: silentLog,
    },
  });
  const stopped = new AbortController();
  const news: string[][] = [];
  objects.onChange((names) => void (names.length > 0 && news.push([...names])));
  const put = (name: string, host: string, subnet: string) => {
    const object = { apiVersion, kind: 'HostSubnet', metadata: { name }, host, hostIP: '192.0.2.1', subnet };
    return store.put(objectKey(keys.root, referenceOf(object)), encodeStoredObject(object, undefined, 0));
  };
  await put('one', 'one', '10.128.0.0/23');
  await put('two', 'two', '10.128.2.0/23');
  const following = objects.follow(stopped.signal);
  await vi.waitFor(() => expect(news).toHaveLength(1));
  await put('one', 'one', '10.128.4.0/23');
  await vi.waitFor(() => expect(news).toHaveLength(2));
  await store.delete(objectKey(keys.root, { apiVersion, kind: 'HostSubnet', name: 'one' }));
  await vi.waitFor(() => expect(news).toHaveLength(3));
  const both = ['test-subnet/one', 'test-subnets'];
  expect(news).toEqual([both, ['test-subnet/one'], both]);
  stopped.abort();
  await following;
});

test('all kinds of a group are followed by one watch, whose revision holds for each of them', async () => {
  const opened: string[] = [];
  const stopped = new AbortController();
  const store: Pick<Store, 'watch'> = {
    async *watch(prefix) {
      opened.push(prefix);
      yield { type: 'snapshot', items: [], revision: 7 };
      await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve));
    },
  };
  const journal = openObjectJournal(createMemoryFiles(), silentLog);
  const objects = new ObjectFactStore({
    ...{
      kinds: model.objects!,
      nodeName: 'one',
      store,
      root: keys.root,
      journal,
      clock: systemClock,
      log: silentLog,
    },
  });
  const following = objects.follow(stopped.signal);
  await objects.until(() => objects.areKnown, stopped.signal);
  expect([opened, objects.revision]).toEqual([['/podwire/objects/network.openshift.io/'], 7]);
  stopped.abort();
  await following;
});
