import type { PoolSpec } from '@podwire/ipam';
import { expect, test } from 'vitest';
import { describeDoubled, describeTaken, useOf, usesOfHost, withTaken } from '../../src/node/address-uses.js';
import type { HostLink, HostView } from '../../src/node/host-view.js';

const link = (index: number, name: string, change: Partial<HostLink> = {}): HostLink => ({
  index,
  name,
  mtu: 1500,
  up: true,
  loopback: name === 'lo',
  own: false,
  ...change,
});
const host = (change: Partial<HostView>): HostView => ({
  links: [
    link(1, 'lo'),
    link(2, 'eth0'),
    link(3, 'cni0', { kind: 'bridge' }),
    link(4, 'podwire-vx', { own: true }),
  ],
  defaultRoutes: [],
  addresses: [],
  nextHops: [],
  ipv6: true,
  ...change,
});
const pool = (change: Partial<PoolSpec> = {}): PoolSpec => ({
  name: 'p',
  cidr: '10.0.0.0/16',
  blockSize: 26,
  ...change,
});
const takenIn = (view: Partial<HostView>, spec: PoolSpec, blocks: readonly string[] = []): string[] =>
  (withTaken(spec, usesOfHost(host(view)), blocks).taken ?? []).map(({ cidr }) => cidr);

const eth0 = (address: string) => ({ addresses: [{ link: 2, address }] });

test.each<[string, Partial<HostView>, Partial<PoolSpec>, string[]]>([
  ['nothing, elsewhere', eth0('192.0.2.1/24'), {}, []],
  [
    'an address of a link, and the network of the link',
    eth0('10.0.9.1/24'),
    {},
    ['10.0.9.1/32', '10.0.9.0/24'],
  ],
  ['a pool that is the network of a link', eth0('10.0.0.1/16'), {}, ['10.0.0.1/32', '10.0.0.0/16']],
  ['of a pool inside the network of a link, the address alone', eth0('10.0.0.1/8'), {}, ['10.0.0.1/32']],
  ['nothing that the operator has reserved', eth0('10.0.9.1/24'), { reserved: ['10.0.9.0/24'] }, []],
  [
    'an IPv6 address',
    eth0('fd00::1/64'),
    { cidr: 'fd00::/48', blockSize: 122 },
    ['fd00::1/128', 'fd00::/64'],
  ],
  [
    'the other end of a link',
    { addresses: [{ link: 2, address: '192.0.2.1/32', peer: '10.0.9.9/32' }] },
    {},
    ['10.0.9.0/26'],
  ],
  ['the block around a next hop', { nextHops: [{ link: 2, address: '10.0.9.70' }] }, {}, ['10.0.9.64/26']],
  [
    'an address of the loopback alone',
    { addresses: [{ link: 1, address: '10.0.9.1/24' }] },
    {},
    ['10.0.9.1/32'],
  ],
  ['nothing of a link that Podwire made', { addresses: [{ link: 4, address: '10.0.9.1/32' }] }, {}, []],
  [
    'of the bridge of containers its address alone',
    { addresses: [{ link: 3, address: '10.0.9.5/24' }] },
    {},
    ['10.0.9.5/32'],
  ],
  [
    'the network of a bridge that leads to a router',
    { addresses: [{ link: 3, address: '10.0.9.5/24' }], nextHops: [{ link: 3, address: '192.0.2.1' }] },
    {},
    ['10.0.9.5/32', '10.0.9.0/24'],
  ],
  [
    'not the gateway that the plugin `bridge` sets up',
    { addresses: [{ link: 3, address: '10.0.9.1/24' }] },
    { allocation: 'node-cidr', blockSize: 24 },
    [],
  ],
])('of a pool is taken: %s', (_what, view, spec, taken) => {
  expect(takenIn(view, pool(spec))).toEqual(taken);
});

test('of a block that the node has already, a next hop takes its address alone', () => {
  const view = { nextHops: [{ link: 2, address: '10.0.9.70' }] };
  expect(takenIn(view, pool(), ['10.0.9.64/26'])).toEqual(['10.0.9.70/32']);
});

test('status names each part of a pool once, with what to do', () => {
  const uses = usesOfHost(host({ ...eth0('10.0.0.1/16'), nextHops: [{ link: 2, address: '10.0.0.2' }] }));
  expect(describeTaken(withTaken(pool(), uses, []))).toEqual([
    expect.stringMatching(
      /^POOL_INVALID: pool p \(10\.0\.0\.0\/16\): 10\.0\.0\.0\/16 is the network of eth0; pods get nothing of/,
    ),
  ]);
});

test('status names the pod whose address something else has got since', () => {
  const uses = [useOf('10.0.0.7/24', 'own', 'is an address of eth0')];
  const leases = [
    { address: '10.0.0.7', owner: 'net,c1,eth0' },
    { address: '10.0.0.8', owner: 'net,c2,eth0' },
  ];
  expect(describeDoubled(leases, uses)).toEqual([
    'ADDRESS_IN_USE: net,c1,eth0 has 10.0.0.7, but 10.0.0.7 is an address of eth0; delete the pod',
  ]);
});
