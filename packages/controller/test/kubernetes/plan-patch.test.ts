import { type OvnPodRecord } from '@podwire/cluster-state';
import { expect, it, test } from 'vitest';
import type { KubernetesPod } from '../../src/ovn/kubernetes/contract.js';
import { planNodePatch, planPodPatch } from '../../src/ovn/kubernetes/plan-patch.js';
import { answer, prefix } from './answer.js';

const record: OvnPodRecord = {
  ...{ namespace: 'shop', name: 'web', uid: 'u1', node: 'n1', source: 'kubernetes' },
  annotations: { ...answer, [`${prefix}ingress_rate`]: '3' },
};
const pod: KubernetesPod = {
  ...{ id: 'shop/web', namespace: 'shop', uid: 'u1', hasEnded: false, annotations: {}, record },
};
const routed = { [`${prefix}routed`]: 'true' };

it('writes answers alone, for the pod of that UID', () => {
  expect(planPodPatch(pod, record)).toEqual({
    ...{ path: '/api/v1/namespaces/shop/pods/web', uid: 'u1' },
    annotations: { ...answer, ...routed },
  });
});

it('writes what is other than it shall be', () => {
  const annotations = { ...answer, ...routed, [`${prefix}ip_address`]: '10.16.0.9' };
  const patch = planPodPatch({ ...pod, annotations }, record);
  expect(patch?.annotations).toEqual({ [`${prefix}ip_address`]: '10.16.0.2' });
});

it('names the object of a static pod, which has another UID than the pod on its node', () => {
  expect(planPodPatch({ ...pod, uid: 'mirror' }, record)?.uid).toBe('mirror');
});

test.each<[string, KubernetesPod | undefined, OvnPodRecord | undefined]>([
  ['is gone', undefined, record],
  ['has no rows yet', pod, undefined],
  ['has no address yet', pod, { ...record, annotations: {} }],
  ['is a successor', { ...pod, record: { ...record, uid: 'u2' } }, record],
  ['has all answers', { ...pod, annotations: { ...answer, ...routed } }, record],
])('writes nothing to a pod that %s', (_, found, applied) => {
  expect(planPodPatch(found, applied)).toBeUndefined();
});

const node = { id: 'n1', uid: 'u1', annotations: {}, rates: {}, labels: {} };

it('writes the end of a node once', () => {
  const annotations = answer;
  expect(planNodePatch(node, { annotations })).toEqual({ path: '/api/v1/nodes/n1', uid: 'u1', annotations });
  expect(planNodePatch({ ...node, annotations }, { annotations })).toBeUndefined();
  expect(planNodePatch(undefined, { annotations })).toBeUndefined();
});

it('writes labels of a node that differ, takes those away that are over, and leaves them where it knows none', () => {
  const labels = { ready: 'true', mtu: '1500' };
  expect(planNodePatch({ ...node, labels: { mtu: '9000', exclude: 'true' } }, { labels })).toEqual({
    ...{ path: '/api/v1/nodes/n1', uid: 'u1', annotations: {} },
    labels: { ready: 'true', mtu: '1500', exclude: null },
  });
  expect(planNodePatch({ ...node, labels }, { labels })).toBeUndefined();
  expect(planNodePatch({ ...node, labels }, {})).toBeUndefined();
});
