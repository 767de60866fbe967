import type { RequestConfig } from '@podwire/cni';
import type { PoolSpec } from '@podwire/ipam';
import { describe, expect, test } from 'vitest';
import { answerDelegated, type Delegation, readDelegation } from '../src/endpoints/delegation.js';

const config = (type: string, ipam: Record<string, unknown> | undefined): RequestConfig => ({
  cniVersion: '1.0.0',
  name: 'lan',
  type,
  ...(ipam === undefined ? {} : { ipam }),
});

const read = (ipam: Record<string, unknown>): Delegation =>
  readDelegation(config('bridge', { type: 'podwire-ipam', ...ipam }))!;

const pools: readonly PoolSpec[] = [
  { name: 'routed', cidr: '10.244.0.0/16', blockSize: 26 },
  { name: 'cidr', cidr: '10.60.0.0/16', blockSize: 24, allocation: 'node-cidr' },
  { name: 'cidr6', cidr: 'fd00:60::/48', blockSize: 120, allocation: 'node-cidr' },
];
const lease = (address: string) => ({ address, pool: 'any' });
const ips = (ipam: Record<string, unknown>, ...addresses: string[]) =>
  answerDelegated(read(ipam), addresses.map(lease), pools).ips;

describe('whose addresses they are', () => {
  test('another plugin with our IPAM', () => {
    expect(readDelegation(config('macvlan', { type: 'podwire-ipam', network: 'lan' }))?.network).toBe('lan');
  });
  test.each([
    ['no IPAM', config('podwire-cni', undefined)],
    ['another’s IPAM', config('bridge', { type: 'host-local', subnet: '10.0.0.0/24' })],
  ])('%s: none of our business', (_, value) => {
    expect(readDelegation(value)).toBeUndefined();
  });
  test.each([
    [
      'podwire-cni delegates to no plugin',
      config('podwire-cni', { type: 'podwire-ipam' }),
      /leave `ipam` out/,
    ],
    ['an unknown field', config('bridge', { type: 'podwire-ipam', ranges: [] }), /ranges/],
    [
      'two gateways of a family',
      config('bridge', { type: 'podwire-ipam', gateways: ['10.0.0.1', '10.0.0.2'] }),
      /gateways/,
    ],
    [
      'a gateway that is no address',
      config('bridge', { type: 'podwire-ipam', gateways: ['x'] }),
      /ipam\.gateways\.0/,
    ],
    [
      'a route to nowhere',
      config('bridge', { type: 'podwire-ipam', routes: [{ dst: '1.2.3.4' }] }),
      /ipam\.routes\.0\.dst/,
    ],
  ])('%s', (_, value, message) => {
    expect(() => readDelegation(value)).toThrow(message);
  });
});

describe('the answer', () => {
  test('a routed pool: the address alone', () => {
    expect(ips({}, '10.244.0.5')).toEqual([{ address: '10.244.0.5/32' }]);
  });
  test('node-cidr: the block, and its gateway as host-local has it', () => {
    expect(ips({}, '10.60.3.7', 'fd00:60::1:7')).toEqual([
      { address: '10.60.3.7/24', gateway: '10.60.3.1' },
      { address: 'fd00:60::1:7/120', gateway: 'fd00:60::1:1' },
    ]);
  });
  test('a pool that is a LAN, with the router that is there', () => {
    expect(ips({ subnet: 'pool', gateways: ['10.244.255.254'] }, '10.244.0.5')).toEqual([
      { address: '10.244.0.5/16', gateway: '10.244.255.254' },
    ]);
  });
  test('a gateway that is given goes before the block’s', () => {
    expect(
      ips({ gateways: ['10.60.3.254'] }, '10.60.3.7', 'fd00:60::1:7')?.map(({ gateway }) => gateway),
    ).toEqual(['10.60.3.254', 'fd00:60::1:1']);
  });
  test('an address of no pool any more is an address alone', () => {
    expect(ips({ subnet: 'pool' }, '192.0.2.1')).toEqual([{ address: '192.0.2.1/32' }]);
  });
  test('routes as they are given', () => {
    const routes = [{ dst: '0.0.0.0/0' }, { dst: '10.0.0.0/8', gw: '10.60.3.9' }];
    expect(answerDelegated(read({ routes }), [lease('10.60.3.7')], pools).routes).toEqual(routes);
  });
});
