import { expect, it } from 'vitest';
import { ClusterView } from '../../src/ovn/kubernetes/cluster-view.js';
import type { KubernetesPod, ReadObject } from '../../src/ovn/kubernetes/contract.js';

const pod = (id: string, uid: string): [string, ReadObject<KubernetesPod>] => {
  const [namespace = ''] = id.split('/');
  return [uid, { id, object: { id, namespace, uid, hasEnded: false, annotations: {} } }];
};
const namespace = (id: string, subnet?: string): [string, ReadObject<{ id: string; subnet?: string }>] => [
  id,
  { id, object: { id, ...(subnet === undefined ? {} : { subnet }) } },
];
const set = (name: string, replicas: number) => ({ namespace: 'shop', name, replicas, isDeleting: false });
const setEntry = (name: string, replicas: number): [string, ReadObject<ReturnType<typeof set>>] => [
  name,
  { id: `shop/${name}`, object: set(name, replicas) },
];

it('has a pod under its name until it is gone, whichever of two comes first', () => {
  const view = new ClusterView();
  view.updatePods(new Map([pod('shop/web', 'u1')]));
  view.updatePods(new Map([pod('shop/web', 'u1'), pod('shop/web', 'u2')]), 'u2');
  view.updatePods(new Map([pod('shop/web', 'u2')]), 'u1');
  expect(view.pod('shop/web')?.object?.uid).toBe('u2');
  view.updatePods(new Map(), 'u2');
  expect(view.pod('shop/web')).toBeUndefined();
});

it('compares all pods at first and after a list, later those that have changed', () => {
  const view = new ClusterView();
  expect(view.takeDue()).toBe('all');
  view.updatePods(new Map([pod('shop/a', 'u1'), pod('bank/b', 'u2')]));
  expect(view.takeDue()).toBe('all');
  view.updatePods(new Map([pod('bank/b', 'u2')]), 'u1');
  view.noteDue(['shop/c']);
  expect(view.takeDue()).toEqual(new Set(['shop/a', 'shop/c']));
  expect(view.takeDue()).toEqual(new Set());
});

it('compares no pod again whose status alone is another one', () => {
  const view = new ClusterView();
  view.updatePods(new Map([pod('shop/a', 'u1')]));
  view.takeDue();
  expect(view.updatePods(new Map([pod('shop/a', 'u1')]), 'u1')).toEqual([]);
  expect(view.takeDue()).toEqual(new Set());
});

it('compares the pods of a namespace that changes', () => {
  const view = new ClusterView();
  view.updateNamespaces(new Map([namespace('shop'), namespace('bank')]));
  view.updatePods(new Map([pod('shop/a', 'u1'), pod('bank/b', 'u2')]));
  view.takeDue();
  view.updateNamespaces(new Map([namespace('shop', 'blue'), namespace('bank')]), 'shop');
  expect(view.subnetOf('shop')).toBe('blue');
  expect(view.takeDue()).toEqual(new Set(['shop/a']));
});

it('has the same list of stateful sets until one of them is another one', () => {
  const view = new ClusterView();
  view.updateStatefulSets(new Map([setEntry('db', 2)]));
  const before = view.planned.statefulSets;
  view.updateStatefulSets(new Map([setEntry('db', 2)]), 'db');
  expect(view.planned.statefulSets).toBe(before);
  view.updateStatefulSets(new Map([setEntry('db', 3)]), 'db');
  expect(view.planned.statefulSets).toEqual([set('db', 3)]);
});

it('keeps a stateful set as it was that cannot be read any more, and says so', () => {
  const view = new ClusterView();
  view.updateStatefulSets(new Map([setEntry('db', 2)]));
  view.updateStatefulSets(new Map([['db', { id: 'shop/db', problem: 'spec: expected object' }]]), 'db');
  expect(view.planned.statefulSets).toEqual([set('db', 2)]);
  expect(view.problems).toEqual(['OBJECT_INVALID: StatefulSet shop/db: spec: expected object']);
});

it('takes a stateful set that could never be read for one of any size', () => {
  const view = new ClusterView();
  const problem = 'spec: expected object';
  view.updateStatefulSets(
    new Map([
      ['db', { id: 'shop/db', problem }],
      ['nameless', { id: 'shop', problem }],
    ]),
  );
  expect(view.planned.statefulSets).toEqual([set('db', Number.MAX_SAFE_INTEGER)]);
});

it('has no namespace that cannot be read', () => {
  const view = new ClusterView();
  view.updateNamespaces(new Map([namespace('shop'), ['bank', { id: 'bank', problem: 'annotations: x' }]]));
  expect([view.hasNamespace('shop'), view.hasNamespace('bank')]).toEqual([true, false]);
});
