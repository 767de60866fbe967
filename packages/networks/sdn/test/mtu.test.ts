import { expect, test } from 'vitest';
import { podMtu } from '@podwire/network-sdn';

test.each([
  [1500, 1450],
  [9000, 8950],
])('a packet in a tunnel fits an uplink of %d bytes when the pod sends %d', (uplink, expected) => {
  expect(podMtu({ mtu: 1500, underlay: { link: 'eth0', mtu: uplink } })).toBe(expected);
});

test('a node without a cluster has no tunnels, and pods have the MTU of the node', () => {
  expect(podMtu({ mtu: 1500 })).toBe(1500);
});
