import { expect, test } from 'vitest';
import { type ClusterNames, findEnd, isPodName, nodeAt, toFlowNames } from '../../src/packet/names.js';

const names: ClusterNames = {
  source: 'the store',
  pods: [
    { name: 'shop/web', node: 'n1', addresses: ['fd00::2', '10.128.2.2'] },
    { name: 'default/web', node: 'n2', addresses: ['10.128.4.2'] },
    { name: 'shop/six', node: 'n2', addresses: ['fd00::3'] },
  ],
  nodes: [{ name: 'n1', address: '192.0.2.1' }],
  projects: [
    { name: 'shop', vnid: 42 },
    { name: 'cart', vnid: 42 },
  ],
};

test.each([
  ['shop/web', { address: '10.128.2.2', pod: 'shop/web', node: 'n1' }],
  ['pod/shop/web', { address: '10.128.2.2', pod: 'shop/web', node: 'n1' }],
  ['web', { address: '10.128.4.2', pod: 'default/web', node: 'n2' }],
  ['pod/web', { address: '10.128.4.2', pod: 'default/web', node: 'n2' }],
  ['10.128.2.2', { address: '10.128.2.2', pod: 'shop/web', node: 'n1' }],
  ['198.51.100.7', { address: '198.51.100.7' }],
])('finds the end %s', (text, end) => {
  expect(findEnd(text, names)).toEqual(end);
});

test.each([
  ['shop/db', 'POD_UNKNOWN', 'the store has no pod shop/db'],
  ['shop/six', 'REQUEST_INVALID', 'pod shop/six has no IPv4 address'],
])('refuses the end %s with %s, and says why', (text, code, message) => {
  expect(() => findEnd(text, names)).toThrow(expect.objectContaining({ code, message }));
});

test.each(['web', 'pod/web', 'shop/web', 'pod/shop/web', 'web-0.a', '7/a'])(
  'takes %s for the name of a pod',
  (text) => expect(isPodName(text)).toBe(true),
);

test.each(['10.1.2', '10.1.2.3', 'fd00::1', 'a/b/c', 'pod/', 'Web', '-a', ''])(
  'takes %j for no name of a pod',
  (text) => expect(isPodName(text)).toBe(false),
);

test('names addresses and VNIDs', () => {
  const { projects, node, pod } = toFlowNames(names);
  expect([projects!(42), projects!(7)]).toEqual([['shop', 'cart'], []]);
  expect([node!('192.0.2.1'), node!('192.0.2.9')]).toEqual(['n1', undefined]);
  expect([pod!('10.128.4.2'), pod!('10.128.4.9')]).toEqual(['default/web', undefined]);
  expect(nodeAt(undefined, names)).toBeUndefined();
});
