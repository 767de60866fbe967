/** Which link a host endpoint without a link's name means. */
import type { HostEndpointFact } from '@podwire/policy';
import { expect, test } from 'vitest';
import { HostEndpointIndex } from '../../src/policy/inputs/host-endpoints.js';

const fact = (more: Partial<HostEndpointFact> = {}): HostEndpointFact => ({
  ...{ name: 'edge', labels: {}, node: 'n1', expectedIPs: ['192.0.2.1', '2001:DB8::1'], profiles: [] },
  ...more,
});
const change = (value: HostEndpointFact | undefined) =>
  ({ topic: 'host-endpoint', key: 'edge', value }) as const;
const host = (...addresses: [link: number, address: string][]) =>
  ({
    links: [
      { index: 1, name: 'lo' },
      { index: 2, name: 'eth0' },
      { index: 3, name: 'eth1' },
    ],
    addresses: addresses.map(([link, address]) => ({ link, address })),
  }) as never;

test('a name is taken as it is, and other nodes are left alone', () => {
  const index = new HostEndpointIndex('n1');
  for (const each of [
    change(fact({ interfaceName: 'eth7' })),
    change(fact({ node: 'n2' })),
    change(undefined),
  ])
    expect(index.note(each)).toEqual(each);
  expect(index.noteHost(host([2, '192.0.2.1/24']))).toEqual([]);
  expect(index.problems).toEqual([]);
});

test('an address leads to the link that has it, and follows it to another one', () => {
  const index = new HostEndpointIndex('n1');
  expect(index.note(change(fact())).value?.interfaceName).toBeUndefined();
  expect(index.problems).toEqual([
    {
      object: 'projectcalico.org/v3 HostEndpoint edge',
      message: 'no link of this node has one of its addresses: 192.0.2.1, 2001:DB8::1',
    },
  ]);
  expect(index.noteHost(host([2, '192.0.2.1/24']))).toEqual([change(fact({ interfaceName: 'eth0' }))]);
  expect(index.problems).toEqual([]);
  expect(index.noteHost(host([2, '192.0.2.1/24'], [3, '198.51.100.1/24']))).toEqual([]);
  expect(index.noteHost(host([3, '2001:db8::1/64']))).toEqual([change(fact({ interfaceName: 'eth1' }))]);
  expect(index.noteHost(host())).toEqual([change(fact())]);
});
