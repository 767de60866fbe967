import { expect, it, test } from 'vitest';
import { readNamespace, readNode, readPod, readStatefulSet } from '../../src/ovn/kubernetes/read-objects.js';
import { podObject } from '../kubernetes-cluster.js';

const prefix = 'ovn.kubernetes.io/';
const versioned = <T extends { readonly metadata: object }>({ metadata, ...rest }: T) => ({
  ...rest,
  metadata: { uid: 'u1', resourceVersion: '1', ...metadata },
});
const pod = (change: object = {}, metadata: object = {}) => {
  const object = podObject('web');
  return versioned({ ...object, ...change, metadata: { ...object.metadata, ...metadata } });
};

it('reads what a pod asks for, without answers and annotations of others', () => {
  const asked = { [`${prefix}logical_switch`]: 'blue', [`${prefix}ip_address`]: '10.17.0.5' };
  const answers = {
    [`${prefix}allocated`]: 'true',
    [`${prefix}routed`]: 'true',
    [`${prefix}cidr`]: '10.17.0.0/24',
  };
  const unused = { [`${prefix}ip_pool`]: '10.17.0.6' };
  const { object } = readPod(pod({}, { annotations: { ...asked, ...answers, ...unused, other: 'x' } }));
  expect(object).toEqual({
    ...{ id: 'shop/web', namespace: 'shop', uid: 'web-1', hasEnded: false },
    annotations: { ...asked, ...answers },
    record: {
      ...{ namespace: 'shop', name: 'web', uid: 'web-1', node: 'n1', source: 'kubernetes' },
      annotations: { ...asked, ...unused },
    },
  });
});

test.each([
  ['has no node yet', { spec: {} }],
  ['has an empty node', { spec: { nodeName: '' } }],
  ['has the network of its node', { spec: { nodeName: 'n1', hostNetwork: true } }],
])('a pod that %s has no record', (_, change) => {
  expect(readPod(pod(change)).object).not.toHaveProperty('record');
});

test.each([
  ['Pending', false],
  ['Running', false],
  ['Unknown', false],
  ['Succeeded', true],
  ['Failed', true],
])('a pod in the phase %s has ended: %s', (phase, hasEnded) => {
  expect(readPod(pod({ status: { phase } })).object).toMatchObject({ hasEnded });
});

it('reads when a pod counts as ended that is being deleted', () => {
  const { object } = readPod(pod({}, { deletionTimestamp: '2026-11-28T10:00:30Z' }));
  expect(object?.endsAt).toBe(Date.UTC(2026, 10, 28, 10, 0, 30));
});

it('knows a static pod by the UID that it has on its node', () => {
  const { object } = readPod(pod({}, { annotations: { 'kubernetes.io/config.mirror': 'of-the-node' } }));
  expect([object?.uid, object?.record?.uid]).toEqual(['web-1', 'of-the-node']);
});

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', controller: true };
test.each([
  [[owner], 'db'],
  [[{ ...owner, controller: false }], undefined],
  [[{ ...owner, kind: 'ReplicaSet' }], undefined],
  [[{ ...owner, apiVersion: 'example.com/v1' }], undefined],
  [null, undefined],
])('a pod of the owners %j is of the stateful set %s', (ownerReferences, statefulSet) => {
  const metadata = { ownerReferences, name: 'db-12' };
  expect(readPod(pod({}, metadata)).object?.record?.statefulSet).toBe(statefulSet);
});

test.each(['db', 'db-', 'db-x', 'db-1x', 'db-x-1', 'web-1', 'adb-1'])(
  'a pod with the name %s is of no stateful set db',
  (name) => {
    expect(readPod(pod({}, { ownerReferences: [owner], name })).object?.record?.statefulSet).toBeUndefined();
  },
);

test.each([
  ['spec: Invalid input: expected object, received undefined', pod({ spec: undefined })],
  ['name: no name of a pod', pod({}, { name: 'Web!' })],
  [
    'metadata.annotations: those of Kube-OVN',
    pod({}, { annotations: { [`${prefix}a`]: 'x'.repeat(20_000) } }),
  ],
  ['have 20026 bytes', pod({}, { annotations: { [`${prefix}a`]: 'ä'.repeat(10_000) } })],
])('says what is wrong with a pod: %s', (problem, object) => {
  const read = readPod(object);
  expect(read.object).toBeUndefined();
  expect(read.problem).toContain(problem);
  expect(read.id).toMatch(/^shop\//);
});

test.each([
  [{ replicas: 3 }, undefined, 3],
  [{ replicas: 1 }, { replicas: 3 }, 3],
  [{}, {}, 1],
  [{ replicas: 2, ordinals: { start: 5 } }, { replicas: 2 }, 7],
  [{ replicas: 0 }, null, 0],
])('a stateful set %j with status %j has numbers below %i', (spec, status, replicas) => {
  const metadata = { name: 'db', namespace: 'shop' };
  const { object } = readStatefulSet(versioned({ metadata, spec, status }));
  expect(object).toEqual({ namespace: 'shop', name: 'db', replicas, isDeleting: false });
});

it('reads that a stateful set is being deleted', () => {
  const metadata = { name: 'db', namespace: 'shop', deletionTimestamp: '2026-11-28T10:00:30Z' };
  expect(readStatefulSet(versioned({ metadata, spec: {} })).object?.isDeleting).toBe(true);
});

it('reads the subnet of a namespace, and annotations and labels of a node', () => {
  const rates = { [`${prefix}ingress_rate`]: '3' };
  const annotations = { ...rates, [`${prefix}logical_switch`]: 'blue', [`${prefix}a`]: 'x', other: 'x' };
  const ready = { 'net1.provider-network.kubernetes.io/ready': 'true' };
  const labels = { ...ready, 'kubernetes.io/os': 'linux' };
  const object = versioned({ metadata: { name: 'one', annotations, labels } });
  expect(readNamespace(object)).toEqual({ id: 'one', object: { id: 'one', subnet: 'blue' } });
  const own = { [`${prefix}logical_switch`]: 'blue' };
  const read = { id: 'one', uid: 'u1', annotations: own, rates, labels: ready };
  expect(readNode(object)).toEqual({ id: 'one', object: read });
});
it('takes no name of a subnet from a namespace that is too long for one', () => {
  const named = (length: number) => {
    const annotations = { [`${prefix}logical_switch`]: 'x'.repeat(length) };
    return readNamespace(versioned({ metadata: { name: 'shop', annotations } }));
  };
  expect(named(253).object?.subnet).toHaveLength(253);
  expect(named(254)).toEqual({
    id: 'shop',
    problem: 'metadata.annotations.ovn.kubernetes.io/logical_switch: must have 253 characters at most',
  });
});
