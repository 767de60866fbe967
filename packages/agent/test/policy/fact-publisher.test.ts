import { keysBelow, type PodFacts, podFactsKind } from '@podwire/cluster-state';
import { createTestClock } from '@podwire/platform/testing';
import { encodeObject } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, test } from 'vitest';
import { FactPublisher } from '../../src/policy/publish/fact-publisher.js';
import { createLogged } from '../fakes/logged.js';

const keys = keysBelow('/podwire');
const factsOf = (pod: string, app = 'web', node = 'n1'): PodFacts => {
  const [namespace = '', name = ''] = pod.split('/');
  return { namespace, name, node, labels: { app }, addresses: ['10.0.0.1'], ports: [] };
};

function createNode() {
  const clock = createTestClock();
  const store = createMemoryServer({ clock }).connect();
  const pods = new Map<string, PodFacts>();
  const { log, messages, lines } = createLogged();
  const node = { mayWrite: true };
  const publisher = new FactPublisher({
    ...{ node: 'n1', store, keys, clock, log },
    read: (pod) => pods.get(pod),
    localPods: () => pods.keys(),
    mayWrite: () => node.mayWrite,
  });
  const put = (facts: PodFacts) =>
    store.put(keys.podFacts(facts.node, facts.namespace, facts.name), encodeObject(podFactsKind, facts));
  /** Key below the folder of facts, and label. */
  const stored = async (): Promise<string[]> => {
    const { items } = await store.list('/podwire/pod-facts/');
    return items.map(({ key, value }) => `${key.slice(19)} ${/"app":"(\w+)"/.exec(value)?.[1] ?? ''}`);
  };
  return { ...{ clock, store, pods, messages, lines, node, publisher, put, stored } };
}

test('a pod that comes, changes and goes does so in the store', async () => {
  const { clock, pods, publisher, stored } = createNode();
  for (const [facts, expected] of [
    [factsOf('shop/a'), ['n1/shop/a web']],
    [factsOf('shop/a', 'db'), ['n1/shop/a db']],
    [undefined, []],
    [factsOf('shop/a', 'db'), ['n1/shop/a db']],
  ] as const) {
    if (facts === undefined) pods.delete('shop/a');
    else pods.set('shop/a', facts);
    publisher.note('shop/a');
    await clock.settle();
    expect(await stored()).toEqual(expected);
  }
});

test('at the start the store becomes what the node has, and other nodes are left alone', async () => {
  const { clock, pods, publisher, put, stored } = createNode();
  await put(factsOf('shop/gone'));
  await put(factsOf('shop/a', 'old'));
  await put(factsOf('shop/x', 'web', 'n2'));
  for (const name of ['shop/a', 'shop/new']) pods.set(name, factsOf(name));
  publisher.start();
  await clock.settle();
  expect(await stored()).toEqual(['n1/shop/a web', 'n1/shop/new web', 'n2/shop/x web']);
});

test('what the store has already is not written again', async () => {
  const { clock, store, pods, publisher, put } = createNode();
  const revision = await put(factsOf('shop/a'));
  pods.set('shop/a', factsOf('shop/a'));
  publisher.start();
  await clock.settle();
  publisher.note('shop/a');
  await clock.settle();
  expect((await store.get(keys.podFacts('n1', 'shop', 'a')))?.revision).toBe(revision);
});

test('what others delete of it comes back, and what it has deleted itself does not', async () => {
  const { clock, store, pods, publisher, stored } = createNode();
  for (const name of ['shop/a', 'shop/b']) pods.set(name, factsOf(name));
  publisher.start();
  await clock.settle();
  await store.delete(keys.podFacts('n1', 'shop', 'a'));
  publisher.noteLost('shop/a');
  pods.delete('shop/b');
  publisher.note('shop/b');
  await clock.settle();
  publisher.noteLost('shop/b');
  await clock.settle();
  expect(await stored()).toEqual(['n1/shop/a web']);
});

test('while another agent may have the name nothing is written; later everything is', async () => {
  const { clock, pods, node, publisher, put, stored } = createNode();
  node.mayWrite = false;
  await put(factsOf('shop/gone'));
  pods.set('shop/a', factsOf('shop/a'));
  publisher.start();
  publisher.note('shop/a');
  await clock.advance(10_000);
  expect(await stored()).toEqual(['n1/shop/gone web']);
  node.mayWrite = true;
  await clock.advance(2_000);
  expect(await stored()).toEqual(['n1/shop/a web']);
});

test('a store that is away keeps pods waiting, is told by name, and gets what is so when it is back', async () => {
  const { clock, store, pods, messages, lines, publisher, stored } = createNode();
  store.cut();
  pods.set('shop/a', factsOf('shop/a', 'old'));
  publisher.note('shop/a');
  await clock.advance(1_000);
  expect(publisher.pending).toBe(1);
  expect(messages[0]).toBe('warn: what policy knows of a pod did not reach the store');
  expect(lines[0]).toMatchObject({ pod: 'shop/a' });
  pods.set('shop/a', factsOf('shop/a', 'new'));
  store.restore();
  await clock.advance(20_000);
  expect(await stored()).toEqual(['n1/shop/a new']);
  expect(publisher.pending).toBe(0);
});

test('a comparison that fails names no pod, and is tried again', async () => {
  const { clock, store, lines, publisher, put, stored } = createNode();
  await put(factsOf('shop/gone'));
  store.cut();
  publisher.start();
  await clock.settle();
  expect(lines[0]).toMatchObject({ msg: 'what policy knows of pods cannot be compared with the store' });
  expect(lines[0]).not.toHaveProperty('pod');
  store.restore();
  await clock.advance(20_000);
  expect(await stored()).toEqual([]);
});

test('a write whose answer is lost is done again', async () => {
  const { clock, store, pods, publisher, stored } = createNode();
  let isLost = true;
  store.faults.decide = ({ operation }) => (operation === 'put' && isLost ? 'request-lost' : undefined);
  pods.set('shop/a', factsOf('shop/a'));
  publisher.note('shop/a');
  await clock.settle();
  isLost = false;
  await clock.advance(5_000);
  expect(await stored()).toEqual(['n1/shop/a web']);
});
