import { expect, test } from 'vitest';
import { planRestore } from '../../src/node/restore-plan.js';
import type { RouterView } from '../../src/node/router-view.js';

const before: RouterView & { bridges: string[] } = {
  bridges: ['br0'],
  parameters: {
    'net/ipv4/ip_forward': '0',
    'net/ipv4/conf/default/forwarding': '0',
    'net/ipv6/conf/all/forwarding': '0',
    'net/ipv6/conf/default/accept_ra': '1',
    'net/ipv6/conf/eth0/accept_ra': '1',
    'net/ipv6/conf/eth1/accept_ra': '0',
    'net/ipv6/conf/eth2/accept_ra': '2',
  },
};
const changed = {
  'net/ipv4/ip_forward': '1',
  'net/ipv4/conf/default/forwarding': '1',
  'net/ipv6/conf/all/forwarding': '1',
  'net/ipv6/conf/default/accept_ra': '2',
  'net/ipv6/conf/eth0/accept_ra': '2',
  'net/ipv6/conf/late0/accept_ra': '2',
};
const then = (parameters = {}): typeof before => ({
  ...before,
  parameters: { ...before.parameters, ...parameters },
});
const now = (parameters = {}, bridges = ['br0']): RouterView => ({
  bridges,
  parameters: { ...before.parameters, ...changed, ...parameters },
});
const plan = (...[remembered, family, view]: Parameters<typeof planRestore>): string[] =>
  planRestore(remembered, family, view).parameters.map(({ key, value }) => `${key}=${value}`);

test('forwarding goes back first, then what the node listens to, also on links that came since', () => {
  expect(plan(before, 4, now())).toEqual(['net/ipv4/ip_forward=0', 'net/ipv4/conf/default/forwarding=0']);
  expect(plan(before, 6, now())).toEqual([
    'net/ipv6/conf/all/forwarding=0',
    'net/ipv6/conf/default/accept_ra=1',
    'net/ipv6/conf/eth0/accept_ra=1',
    'net/ipv6/conf/late0/accept_ra=1',
  ]);
});

test('a default of its own is kept where forwarding changes it along', () => {
  const own = then({ 'net/ipv4/conf/default/forwarding': '1' });
  expect(plan(own, 4, now())).toEqual(['net/ipv4/ip_forward=0', 'net/ipv4/conf/default/forwarding=1']);
  const router = then({ 'net/ipv4/ip_forward': '1' });
  expect(plan(router, 4, now())).toEqual(['net/ipv4/ip_forward=1', 'net/ipv4/conf/default/forwarding=0']);
});

test('links that forwarded, and redirects that were refused, are what they were', () => {
  const hardened = then({
    'net/ipv4/conf/all/accept_redirects': '0',
    'net/ipv4/conf/eth0/forwarding': '0',
    'net/ipv4/conf/eth1/forwarding': '1',
    'net/ipv6/conf/default/forwarding': '1',
    'net/ipv6/conf/eth1/forwarding': '1',
  });
  expect(plan(hardened, 4, now())).toEqual([
    'net/ipv4/ip_forward=0',
    'net/ipv4/conf/default/forwarding=0',
    'net/ipv4/conf/all/accept_redirects=0',
    'net/ipv4/conf/eth1/forwarding=1',
  ]);
  expect(plan(hardened, 6, now()).slice(0, 3)).toEqual([
    'net/ipv6/conf/all/forwarding=0',
    'net/ipv6/conf/default/forwarding=1',
    'net/ipv6/conf/eth1/forwarding=1',
  ]);
});

test('what was on stays on, and what it listens to is its own', () => {
  const router = then({ 'net/ipv6/conf/all/forwarding': '1' });
  expect(plan(router, 6, now())).toEqual([]);
});

test('what another program has set since stays', () => {
  expect(plan(before, 4, before)).toEqual([]);
  const set = { 'net/ipv6/conf/eth0/accept_ra': '0', 'net/ipv6/conf/late0/accept_ra': '0' };
  expect(plan(before, 6, now(set))).toEqual([
    'net/ipv6/conf/all/forwarding=0',
    'net/ipv6/conf/default/accept_ra=1',
  ]);
});

test('forwarding and what hangs on it stay for a bridge that has come since', () => {
  expect(planRestore(before, 6, now({}, ['br0', 'virbr0']))).toEqual({
    parameters: [],
    kept: ['IPv6 forwarding: virbr0 came since'],
  });
});
