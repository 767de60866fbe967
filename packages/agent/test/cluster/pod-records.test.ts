/** Records of a node's pods in the store, by which a controller gives them their addresses. */
import { keysBelow, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { decodeObject, encodeObject } from '@podwire/store';
import { createMemoryServer, type MemoryStore } from '@podwire/store/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type PodRecord, PodRecords } from '../../src/cluster/pod-records.js';

const keys = keysBelow('/podwire');
const key = keys.ovnPod('shop', 'web');
const { signal } = new AbortController();
const endpoint = (containerId: string) => ({ containerId, ifName: 'eth0', network: 'default' });
const record = (uid: string, annotations = {}): PodRecord => ({
  namespace: 'shop',
  name: 'web',
  uid,
  annotations,
});

function createNode(store: MemoryStore, nodeName = 'one'): PodRecords {
  const records = new PodRecords({ store, keys, nodeName, clock: systemClock, log: silentLog });
  onTestFinished(() => records.stop());
  return records;
}

function createStore(): MemoryStore {
  const store = createMemoryServer().connect();
  onTestFinished(() => store.close());
  return store;
}

async function read(store: MemoryStore): Promise<OvnPodRecord | undefined> {
  const item = await store.get(key);
  return item === undefined ? undefined : decodeObject(ovnPodKind, key, item.value);
}

const put = (store: MemoryStore, found: OvnPodRecord) => store.put(key, encodeObject(ovnPodKind, found));

test('a pod has a record with its node until the last of its endpoints is released', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1', { asked: 'yes' }), signal);
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(await read(store)).toEqual({ ...record('u1', { asked: 'yes' }), node: 'one' });
  records.release(({ containerId }) => containerId === 'a');
  expect(records.has(endpoint('b'), record('u1'))).toBe(true);
  records.release(({ containerId }) => containerId === 'b');
  expect(records.has(endpoint('b'), record('u1'))).toBe(false);
  await vi.waitFor(async () => expect(await read(store)).toBeUndefined());
});

test('a pod asks again for each of its endpoints, and keeps the answer', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  const answered = { ...record('u1', { answer: 'yes' }), node: 'one' };
  await put(store, answered);
  expect(records.has(endpoint('b'), record('u1'))).toBe(false);
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(await read(store)).toEqual(answered);
});

const allocated = { 'ovn.kubernetes.io/allocated': 'true', 'ovn.kubernetes.io/ip_address': '10.16.0.2' };

test('a pod is unanswered from its first question until its answer is noted', async () => {
  const store = createStore();
  const records = createNode(store);
  expect(records.isUnanswered(record('u1'))).toBe(false);
  await records.ask(endpoint('a'), record('u1'), signal);
  const answered = records.untilAnswered(record('u1'), signal);
  await put(store, { ...record('u2', allocated), node: 'one' });
  await put(store, { ...record('u1', { asked: 'yes' }), node: 'one' });
  await put(store, { ...record('u1', allocated), node: 'one' });
  expect(await answered).toEqual(allocated);
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(records.isUnanswered(record('u1'))).toBe(true);
  records.noteAnswered(record('u1'));
  await records.ask(endpoint('c'), record('u1'), signal);
  expect(records.isUnanswered(record('u1'))).toBe(false);
});

test('a record that is there with its answer is not waited for', async () => {
  const store = createStore();
  await put(store, { ...record('u1', allocated), node: 'one' });
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  await store.delete(key);
  expect(await records.untilAnswered(record('u1'), signal)).toEqual(allocated);
});

test('a pod that is released asks again', async () => {
  const records = createNode(createStore());
  await records.ask(endpoint('a'), record('u1'), signal);
  records.release(() => true);
  expect(records.isUnanswered(record('u1'))).toBe(false);
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(records.isUnanswered(record('u1'))).toBe(true);
});

test('an answer is waited for no longer than its caller waits', async () => {
  const records = createNode(createStore());
  await records.ask(endpoint('a'), record('u1'), signal);
  const caller = new AbortController();
  const answered = records.untilAnswered(record('u1'), caller.signal);
  caller.abort(new Error('given up'));
  await expect(answered).rejects.toThrow('given up');
});

test('another pod under the same name replaces the record, and the end of the first leaves it', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  await records.ask(endpoint('b'), record('u2'), signal);
  records.release(({ containerId }) => containerId === 'a');
  records.compareSoon();
  await records.ask(endpoint('b'), record('u2'), signal);
  expect((await read(store))?.uid).toBe('u2');
});

test('a pod that goes and comes at once has a record', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  records.release(() => true);
  await records.ask(endpoint('b'), record('u1'), signal);
  records.compareSoon();
  await vi.waitFor(async () => expect((await read(store))?.uid).toBe('u1'));
  expect(records.has(endpoint('b'), record('u1'))).toBe(true);
});

test('a comparison deletes what no pod of this node has, and leaves records of other nodes', async () => {
  const store = createStore();
  await put(store, { ...record('u1'), node: 'one' });
  const far = keys.ovnPod('shop', 'far');
  await store.put(far, encodeObject(ovnPodKind, { ...record('u3'), name: 'far', node: 'two' }));
  createNode(store).compareSoon();
  await vi.waitFor(async () => expect(await read(store)).toBeUndefined());
  expect(await store.get(far)).toBeDefined();
});

test('a comparison writes what the store has lost, and never over the record of a pod elsewhere', async () => {
  const store = createStore();
  const records = createNode(store);
  records.hold(endpoint('a'), record('u1', { held: 'yes' }));
  records.compareSoon();
  await vi.waitFor(async () => expect((await read(store))?.annotations).toEqual({ held: 'yes' }));
  const elsewhere = { ...record('u9'), node: 'two' };
  await put(store, elsewhere);
  records.compareSoon();
  records.release(() => true);
  await createNode(store, 'two').ask(endpoint('z'), record('u9'), signal);
  expect(await read(store)).toEqual(elsewhere);
});

test('a record of the API server is found by its pod, and neither changed nor deleted', async () => {
  const store = createStore();
  const records = createNode(store);
  expect(await records.findUid('shop', 'web', signal)).toBeUndefined();
  const known: OvnPodRecord = { ...record('u1', { answer: 'yes' }), node: 'one', source: 'kubernetes' };
  await put(store, known);
  expect(await records.findUid('shop', 'web', signal)).toBe('u1');
  await records.ask(endpoint('a'), record('u1', { asked: 'yes' }), signal);
  records.release(() => true);
  const own = { ...record('u2'), name: 'own', node: 'one' };
  await store.put(keys.ovnPod('shop', 'own'), encodeObject(ovnPodKind, own));
  records.compareSoon();
  await vi.waitFor(async () => expect(await store.get(keys.ovnPod('shop', 'own'))).toBeUndefined());
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(await read(store)).toEqual(known);
});

test('the UID of a pod is not known from what its node has written', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  expect(await records.findUid('shop', 'web', signal)).toBeUndefined();
});

test('what is deleted while the store is away is deleted when it is back', async () => {
  const store = createStore();
  const records = createNode(store);
  await records.ask(endpoint('a'), record('u1'), signal);
  store.cut();
  records.release(() => true);
  await expect(records.ask(endpoint('b'), record('u2'), signal)).rejects.toThrow();
  store.restore();
  await vi.waitFor(async () => expect(await read(store)).toBeUndefined(), { timeout: 30_000 });
});

test.each([
  ['on another node', 'two', false, 'is on node two'],
  ['with a sandbox here', 'one', true, 'has a sandbox here already'],
])('the UID of a pod of the API server is not taken for a pod %s', async (_, node, isHere, words) => {
  const store = createStore();
  const records = createNode(store);
  await put(store, { ...record('u1'), node, source: 'kubernetes' });
  if (isHere) await records.ask(endpoint('a'), record('u1'), signal);
  await expect(records.findUid('shop', 'web', signal)).rejects.toMatchObject({
    code: 'POD_UNALLOCATED',
    message: `pod shop/web ${words}, as far as the controller knows`,
  });
});

test('a record that the controller has deleted is not written again', async () => {
  const store = createStore();
  const records = createNode(store);
  await put(store, { ...record('u1'), node: 'one', source: 'kubernetes' });
  await records.ask(endpoint('a'), record('u1'), signal);
  await store.delete(key);
  await store.put(
    keys.ovnPod('shop', 'own'),
    encodeObject(ovnPodKind, { ...record('u2'), name: 'own', node: 'one' }),
  );
  records.compareSoon();
  await vi.waitFor(async () => expect(await store.get(keys.ovnPod('shop', 'own'))).toBeUndefined());
  await records.ask(endpoint('b'), record('u1'), signal);
  expect(await read(store)).toBeUndefined();
});
