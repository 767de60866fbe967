import { expect, test } from 'vitest';
import { StrandedPods, toRemoval } from '../src/ovn/stranded-pods.js';

const recordOf = (name: string, node: string) => ({
  ...{ key: `/podwire/ovn-pods/shop/${name}`, revision: 7 },
  record: { namespace: 'shop', name, uid: 'u1', node, annotations: {} },
});

const minutes = 60_000;

test('pods are given up when their node has been missing for fifteen minutes', () => {
  let now = 0;
  const stranded = new StrandedPods({ elapsed: () => now });
  const [first, later] = [recordOf('a', 'n1'), recordOf('b', 'n2')];
  expect(stranded.select([first])).toEqual([]);
  now = 10 * minutes;
  expect(stranded.select([first, later])).toEqual([]);
  now = 15 * minutes;
  expect(stranded.select([first, later])).toEqual([first]);
  expect(toRemoval(first)).toEqual({
    condition: { key: first.key, expect: 7 },
    write: { op: 'delete', key: first.key },
  });
});

test('a node that was there in between has its time anew', () => {
  let now = 0;
  const stranded = new StrandedPods({ elapsed: () => now });
  const pod = recordOf('a', 'n1');
  stranded.select([pod]);
  now = 14 * minutes;
  stranded.select([]);
  now = 20 * minutes;
  expect(stranded.select([pod])).toEqual([]);
});
