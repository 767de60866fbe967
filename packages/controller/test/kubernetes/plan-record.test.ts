import { type OvnPodRecord } from '@podwire/cluster-state';
import { expect, it, test } from 'vitest';
import type { KubernetesPod } from '../../src/ovn/kubernetes/contract.js';
import { planRecord, type RecordInput } from '../../src/ovn/kubernetes/plan-record.js';
import { answer, prefix } from './answer.js';

const wanted: OvnPodRecord = {
  ...{ namespace: 'shop', name: 'web', uid: 'u1', node: 'n1', annotations: {}, source: 'kubernetes' },
};
const ofNode = (change: Partial<OvnPodRecord> = {}): OvnPodRecord => {
  const { source: _, ...rest } = wanted;
  return { ...rest, ...change };
};
const podOf = (record: OvnPodRecord | undefined, change: Partial<KubernetesPod> = {}): KubernetesPod => ({
  ...{ id: 'shop/web', namespace: 'shop', uid: 'u1', hasEnded: false, annotations: {} },
  ...(record === undefined ? {} : { record }),
  ...change,
});
const plan = (record: OvnPodRecord | undefined, input: Partial<RecordInput> = {}) =>
  planRecord({
    ...{ pod: podOf(wanted), subnet: undefined, now: 1_000 },
    found: record === undefined ? undefined : { record },
    ...input,
  });

it('writes the record of a pod that has none, with the subnet of its namespace', () => {
  const annotations = { [`${prefix}logical_switch`]: 'blue' };
  expect(plan(undefined, { subnet: 'blue' })).toEqual({ type: 'put', record: { ...wanted, annotations } });
});

it('prefers the subnet that the pod names', () => {
  const named = { ...wanted, annotations: { [`${prefix}logical_switch`]: 'red' } };
  expect(plan(undefined, { subnet: 'blue', pod: podOf(named) })).toEqual({ type: 'put', record: named });
});

it('keeps the answer, and follows what the pod asks for beside it', () => {
  const asking = {
    ...wanted,
    annotations: { [`${prefix}ingress_rate`]: '3', [`${prefix}ip_address`]: '10.16.0.9' },
  };
  const found = { ...wanted, annotations: { ...answer, [`${prefix}egress_rate`]: '1' } };
  expect(plan(found, { pod: podOf(asking), subnet: 'blue' })).toEqual({
    type: 'put',
    record: { ...wanted, annotations: { ...answer, [`${prefix}ingress_rate`]: '3' } },
  });
});

it('keeps the reason why there is no answer yet, until there is one', () => {
  const found = { ...wanted, annotations: { 'podwire/problem': 'OVN_EXHAUSTED: none is free' } };
  expect(plan(found)).toBeUndefined();
});

it('takes over the record of a node once it is answered', () => {
  expect(plan(ofNode({ annotations: answer }))).toEqual({
    type: 'put',
    record: { ...wanted, annotations: answer },
  });
  const asked = { [`${prefix}ip_address`]: '10.16.0.9' };
  expect(plan(ofNode({ annotations: asked }))).toBeUndefined();
  const chosen = { ...asked, [`${prefix}logical_switch`]: 'blue' };
  expect(plan(ofNode({ annotations: asked }), { subnet: 'blue' })).toEqual({
    type: 'put',
    record: ofNode({ annotations: chosen }),
  });
});

test.each<[string, unknown, OvnPodRecord | undefined, Partial<RecordInput>]>([
  ['is as it shall be', undefined, { ...wanted, annotations: answer }, {}],
  ['is of a predecessor', { type: 'put', record: wanted }, { ...wanted, uid: 'u0', annotations: answer }, {}],
  ['is of another pod of a node', undefined, ofNode({ uid: 'u0' }), {}],
  ['is of a pod that is gone', { type: 'delete' }, wanted, { pod: undefined }],
  ['is of a node, without a pod', undefined, ofNode(), { pod: undefined }],
  ['is not there, and no pod either', undefined, undefined, { pod: undefined }],
  ['is of a pod that has ended', { type: 'delete' }, wanted, { pod: podOf(wanted, { hasEnded: true }) }],
  ['is of a pod whose time is over', { type: 'delete' }, wanted, { pod: podOf(wanted, { endsAt: 1_000 }) }],
  ['is of a pod that is being deleted', undefined, wanted, { pod: podOf(wanted, { endsAt: 1_001 }) }],
  ['is of a pod without a node', { type: 'delete' }, wanted, { pod: podOf(undefined) }],
])('a record that %s becomes %j', (_, expected, found, input) => {
  expect(plan(found, input)).toEqual(expected);
});
