import { expect, test } from 'vitest';
import type { Drop, DroppedPacket } from '../../src/policy/contract.js';
import { describeDrop, type DropFacts } from '../../src/policy/look/describe-drop.js';

const names = new Map([
  ['10.0.0.1', 'pod/shop/web'],
  ['fd00::1', 'pod/shop/web'],
  ['192.0.2.1', 'node/n1'],
]);
const links = new Map([[7, 'eth0']]);
const time = '2026-11-24T10:00:00.250Z';

const describe = (packet: DroppedPacket, reason?: DropFacts['reason']): Drop =>
  describeDrop(packet, {
    ...{ now: Date.parse(time), reason },
    nameOf: (address) => names.get(address),
    linkOf: (index) => links.get(index),
  });

const tcp = { protocol: 'tcp', sourcePort: 40_000, destinationPort: 80 };

test('has the packet, both ends by name, the link it came in by, and why', () => {
  const packet = { prefix: 'p', source: '192.0.2.1', destination: '10.0.0.1', ...tcp, inputLink: 7 };
  const reason = { direction: 'ingress', reason: 'rule', policy: 'NetworkPolicy shop/a', tier: 't' } as const;
  expect(describe(packet, reason)).toEqual({
    ...{ time, ...reason, from: 'node/n1', to: 'pod/shop/web' },
    ...{ source: '192.0.2.1', destination: '10.0.0.1', ...tcp, inputLink: 'eth0' },
  });
});

test.each<[string, DroppedPacket, Drop]>([
  [
    'an address of others is told as it is',
    { prefix: '', source: '203.0.113.9', destination: 'fd00::1' },
    { time, source: '203.0.113.9', from: '203.0.113.9', destination: 'fd00::1', to: 'pod/shop/web' },
  ],
  [
    'a packet without ports has none',
    { prefix: '', source: '10.0.0.1', destination: '192.0.2.1', protocol: 'icmp' },
    {
      ...{ time, source: '10.0.0.1', from: 'pod/shop/web', destination: '192.0.2.1', to: 'node/n1' },
      protocol: 'icmp',
    },
  ],
  ['of a packet that cannot be read only the time is left', { prefix: 'garbage' }, { time }],
  ['a link that is gone has no name', { prefix: '', inputLink: 8 }, { time }],
])('%s', (_, packet, expected) => {
  expect(describe(packet)).toStrictEqual(expected);
});

test('the link is the one that the packet came in by, whichever end has dropped it', () => {
  for (const direction of ['ingress', 'egress'] as const)
    expect(describe({ prefix: '', inputLink: 7 }, { direction, reason: 'default' }).inputLink).toBe('eth0');
});
