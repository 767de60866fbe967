import { ovnPodKind } from '@podwire/cluster-state';
import { decodeObject } from '@podwire/store';
import { expect, test } from 'vitest';
import { writeAnswer } from '../src/ovn/pod-records.js';

const record = {
  ...{ namespace: 'shop', name: 'web', uid: 'u1', node: 'n1' },
  annotations: { asked: 'yes', 'podwire/problem': 'OVN_EXHAUSTED: no address is free' },
};
const found = { key: '/podwire/ovn-pods/shop/web', revision: 7, record };

test('an answer is added to what the pod asked for, and takes away what is empty', () => {
  const annotations = { answered: 'yes', 'podwire/problem': '' };
  const [write] = writeAnswer({ id: 'shop/web', uid: 'u1', annotations }, found);
  expect(write!.condition).toEqual({ key: found.key, expect: 7 });
  const { value } = write!.write as { value: string };
  expect(decodeObject(ovnPodKind, found.key, value)).toEqual({
    ...record,
    annotations: { asked: 'yes', answered: 'yes' },
  });
});

test('another pod under the same name gets no answer', () => {
  expect(writeAnswer({ id: 'shop/web', uid: 'u0', annotations: {} }, found)).toEqual([]);
  expect(writeAnswer({ id: 'shop/web', uid: 'u1', annotations: {} }, undefined)).toEqual([]);
});
