import { keysBelow, ovnPodKind } from '@podwire/cluster-state';
import { decodeObject, encodeObject, type Store } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, test } from 'vitest';
import { annotateInStore } from '../src/run/pod-annotations.js';
import { storeRoot } from '../src/shape.js';

const { signal } = new AbortController();
const key = keysBelow(storeRoot).ovnPod('shop', 'web');
const pod = { namespace: 'shop', name: 'web', node: 'node1', containerId: 'c1', uid: 'u1', addresses: [] };
const record = {
  ...{ namespace: 'shop', name: 'web', uid: 'u1', node: 'node1' },
  annotations: { 'ovn.kubernetes.io/allocated': 'true', note: 'a' },
};

async function createStore(): Promise<Store> {
  const store = createMemoryServer().connect();
  await store.put(key, encodeObject(ovnPodKind, record), { expect: 'absent', signal });
  return store;
}

const annotationsIn = async (store: Store) =>
  decodeObject(ovnPodKind, key, (await store.get(key, { signal }))!.value).annotations;

test('annotations are set and go, and others stay', async () => {
  const store = await createStore();
  await annotateInStore(store, pod, { rate: '1', note: undefined }, signal);
  expect(await annotationsIn(store)).toEqual({ 'ovn.kubernetes.io/allocated': 'true', rate: '1' });
});

test('what the controller writes at the same time stays', async () => {
  const store = await createStore();
  let isFirst = true;
  const contested: Pick<Store, 'get' | 'put'> = {
    get: (...args) => store.get(...args),
    async put(...args) {
      if (isFirst) {
        isFirst = false;
        const answered = { ...record, annotations: { answer: 'x' } };
        await store.put(key, encodeObject(ovnPodKind, answered), { signal });
      }
      return store.put(...args);
    },
  };
  await annotateInStore(contested, pod, { rate: '1' }, signal);
  expect(await annotationsIn(store)).toEqual({ answer: 'x', rate: '1' });
});

test('the record of another pod under the name is left alone', async () => {
  const store = await createStore();
  const change = annotateInStore(store, { ...pod, uid: 'u2' }, { rate: '1' }, signal);
  await expect(change).rejects.toThrow('the pod shop/web has no record in the store');
  expect(await annotationsIn(store)).toEqual(record.annotations);
});
