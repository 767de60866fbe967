import { expect, test } from 'vitest';
import type { HostLink } from '../../src/node/host-view.js';
import { findChangedLinks, readHostLinks } from '../../src/node/host-links.js';

const link = (name: string, change: Partial<HostLink> = {}): HostLink => ({
  ...{ index: 2, name, mtu: 1500, up: true, loopback: false, own: false, mac: '02:00:00:00:00:01' },
  ...change,
});

const { mac: _, ...bare } = link('sit0');

test('links of pods, the loopback and links without a MAC address are left out', () => {
  const links = [
    link('eth0'),
    link('cali1', { own: true }),
    link('lo', { loopback: true }),
    bare,
    link('eth1', { mtu: 9000 }),
  ];
  expect([...readHostLinks({ links })]).toEqual([
    ['eth0', { mac: '02:00:00:00:00:01', mtu: 1500 }],
    ['eth1', { mac: '02:00:00:00:00:01', mtu: 9000 }],
  ]);
});

test('links that come, go or change are named, and others are not', () => {
  const before = readHostLinks({ links: [link('same'), link('gone'), link('mtu')] });
  const now = readHostLinks({ links: [link('mtu', { mtu: 1400 }), link('same'), link('new')] });
  expect(findChangedLinks(before, now).toSorted()).toEqual(['gone', 'mtu', 'new']);
});
