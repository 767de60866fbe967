import { expect, test } from 'vitest';
import { hostLinks } from '../../src/endpoints/registry.js';
import { indexModels, networkModels } from '../../src/models.js';
import { createHarness, type Harness, keyOf } from '../fakes/harness.js';
import { createPolicyWorld, type FakePolicyWorld, linkElement } from '../fakes/policy-world.js';

const labelled = (labels: Record<string, string>) => ({
  config: { args: { cni: { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } } },
});
const pod = (name: string) => `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`;

interface Node {
  readonly harness: Harness;
  readonly world: FakePolicyWorld;
}

async function createNode(yaml = 'nodeName: node1\npolicy: { labelWait: 20ms }'): Promise<Node> {
  const world = createPolicyWorld();
  const harness = createHarness({ yaml, dependencies: { policy: world } });
  await start(harness);
  return { harness, world };
}

async function start(harness: Harness): Promise<void> {
  harness.context.policy!.start();
  await harness.recover();
}

/** Elements of policy in the kernel. */
const inForce = ({ engine }: Harness): string[] =>
  [...engine.present.values()]
    .filter(({ owner }) => owner === 'policy')
    .map(({ resource }) => JSON.stringify(resource))
    .sort();

const linkOf = ({ context }: Harness, id: string): string => hostLinks(context.endpoints.get(keyOf(id))!)[0]!;

async function known({ harness, world }: Node): Promise<void> {
  world.tell([]);
  await expect.poll(() => harness.context.policy!.state.isApplied).toBe(true);
}

test('the policy of a pod is in force before its link is there', async () => {
  const node = await createNode();
  await known(node);
  const { harness } = node;
  harness.engine.calls.length = 0;
  expect((await harness.call('ADD', labelled({ app: 'web' }))).ok).toBe(true);
  const calls = harness.engine.calls.filter((call) => call !== 'apply node');
  expect(calls).toEqual(['change policy', `apply endpoint:${keyOf('c1')}`]);
  expect(inForce(harness)).toEqual([JSON.stringify(linkElement(linkOf(harness, 'c1')))]);
});

test('without policies no pod is added, and nothing is left of it', async () => {
  const { harness, world } = await createNode();
  const answer = await harness.call('ADD');
  expect(answer.json).toMatchObject({ code: 11 });
  expect(harness.context.endpoints.size).toBe(0);
  world.tell([]);
  await expect.poll(() => harness.context.policy!.isKnown).toBe(true);
  expect((await harness.call('ADD')).ok).toBe(true);
});

test('a pod of a model without policy needs no labels, is known to policies of others, and not to the packet filter', async () => {
  const models = indexModels([{ ...networkModels[0], policy: 'none' }]);
  const world = createPolicyWorld();
  const harness = createHarness({ dependencies: { policy: world, models } });
  await start(harness);
  await known({ harness, world });
  world.labelled.add('shop');
  expect((await harness.call('ADD', { args: pod('web') })).ok).toBe(true);
  const { pods } = harness.context.policy!.inputs.pods;
  expect(pods.has('shop/web')).toBe(true);
  await expect.poll(() => world.taken.some(({ key }) => key === 'shop/web')).toBe(true);
  expect(inForce(harness)).toEqual([]);
  expect((await harness.call('DEL', { args: pod('web') })).ok).toBe(true);
  await expect.poll(() => pods.has('shop/web')).toBe(false);
});

test('unknown labels: the ADD waits, and fails with code 11 where a policy looks at them', async () => {
  const node = await createNode();
  await known(node);
  const { harness, world } = node;
  world.labelled.add('shop');
  const answer = await harness.call('ADD', { args: pod('web') });
  expect(answer.json).toMatchObject({
    code: 11,
    msg: expect.stringContaining('POD_LABELS_UNKNOWN') as string,
  });
  expect(harness.context.endpoints.size).toBe(0);
  expect(harness.records.readAll().records).toEqual([]);
  expect(inForce(harness)).toEqual([]);
  expect((await harness.call('ADD', { args: pod('web'), ...labelled({}) })).ok).toBe(true);
  expect((await harness.call('ADD', { id: 'c2', args: 'K8S_POD_NAMESPACE=other;K8S_POD_NAME=b' })).ok).toBe(
    true,
  );
});

test('a pod whose policy is refused by the kernel is not added, and the next try succeeds', async () => {
  const node = await createNode();
  await known(node);
  const { harness } = node;
  harness.engine.between = (point) => {
    if (point === 'change') throw new Error('refused');
  };
  expect((await harness.call('ADD')).ok).toBe(false);
  expect(harness.context.endpoints.size).toBe(0);
  harness.engine.between = () => undefined;
  expect((await harness.call('ADD')).ok).toBe(true);
  expect(inForce(harness)).toEqual([JSON.stringify(linkElement(linkOf(harness, 'c1')))]);
});

test('DEL takes its elements away before it answers', async () => {
  const node = await createNode();
  await known(node);
  const { harness } = node;
  await harness.call('ADD');
  expect((await harness.call('DEL')).ok).toBe(true);
  expect(inForce(harness)).toEqual([]);
});

test('the same ADD again changes the labels and gives the same answer', async () => {
  const node = await createNode();
  await known(node);
  const { harness, world } = node;
  const first = await harness.call('ADD', { args: pod('web'), ...labelled({ app: 'a' }) });
  const second = await harness.call('ADD', { args: pod('web'), ...labelled({ app: 'b' }) });
  expect(second.body).toBe(first.body);
  expect(world.taken.at(-1)).toMatchObject({
    topic: 'pod',
    key: 'shop/web',
    value: { labels: { app: 'b' } },
  });
  const [record] = harness.records.readAll().records;
  expect(record?.facts).toEqual({ labels: { app: 'b' }, ports: [] });
});

test('an agent that is started again leaves the table alone until policies are known, then repairs it in one exchange', async () => {
  const node = await createNode();
  await known(node);
  await node.harness.call('ADD', { id: 'c1' });
  await node.harness.call('ADD', { id: 'c2' });
  const before = inForce(node.harness);
  await node.harness.context.policy!.stop();
  const world = createPolicyWorld();
  const again = node.harness.restart({ dependencies: { policy: world } });
  again.context.records.readAll();
  const { loadRecords } = await import('../../src/recovery.js');
  loadRecords(again.context);
  again.context.policy!.start();
  await again.reconciler.run();
  expect(inForce(again)).toEqual(before);
  again.engine.present.delete([...again.engine.present].find(([, { owner }]) => owner === 'policy')![0]);
  again.engine.calls.length = 0;
  await known({ harness: again, world });
  expect(inForce(again)).toEqual(before);
  expect(again.engine.calls).toEqual(['verify policy', 'change policy']);
});

test('what others take out of the table comes back with a reconcile', async () => {
  const node = await createNode();
  await known(node);
  const { harness } = node;
  await harness.call('ADD');
  const before = inForce(harness);
  harness.engine.present.delete([...harness.engine.present].find(([, { owner }]) => owner === 'policy')![0]);
  const report = await harness.reconciler.run();
  expect(inForce(harness)).toEqual(before);
  expect(report.changes).toContainEqual(expect.objectContaining({ owner: 'policy', action: 'repaired' }));
});
