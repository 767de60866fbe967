import { expect, test } from 'vitest';
import { readDaemonName } from '../../src/testbed/daemon-names.js';
import { run } from '../support.js';

test.each([
  [['node1', 'agent'], { what: 'agent', node: 'node1' }],
  [['node2', 'ovn-controller'], { what: 'ovn-controller', node: 'node2' }],
  [['ovn-northd'], { what: 'ovn-northd' }],
  [['node1', 'northbound'], { what: 'northbound', node: 'node1' }],
])('%j names a daemon', (words, name) => {
  expect(readDaemonName(words)).toEqual(name);
});

test.each([[[]], [['agent']], [['ovn-controller']], [['node1', 'etcd']], [['a', 'node1', 'agent']]])(
  '%j names no daemon',
  (words) => {
    expect(readDaemonName(words)).toBeUndefined();
  },
);

test('a daemon that is not known is refused before a testbed is looked for', async () => {
  const { code, stderr } = await run(['testbed', 'restart', 'node1', 'etcd']);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    'name a node and one of agent, ovs-vswitchd, ovsdb-server, ovn-controller; or one of',
  );
});
