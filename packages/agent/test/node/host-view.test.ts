import { describe, expect, test } from 'vitest';
import { discoverMtu, type HostLink, type HostView, lacksIPv4 } from '../../src/node/host-view.js';

const link = (index: number, mtu: number, change: Partial<HostLink> = {}): HostLink => ({
  index,
  name: `l${index}`,
  mtu,
  up: true,
  loopback: false,
  own: false,
  ...change,
});
const lo = link(1, 65_536, { name: 'lo', loopback: true });
const host = (change: Partial<HostView>): HostView => ({
  links: [lo],
  defaultRoutes: [],
  addresses: [],
  nextHops: [],
  ipv6: true,
  ...change,
});

describe('the MTU of the uplink', () => {
  test.each<[string, Partial<HostView>, number]>([
    [
      'is that of the default route',
      { links: [lo, link(2, 9000), link(3, 1400)], defaultRoutes: [{ family: 4, link: 2, metric: 0 }] },
      9000,
    ],
    [
      'prefers the lower metric',
      {
        links: [link(2, 9000), link(3, 1400)],
        defaultRoutes: [
          { family: 4, link: 2, metric: 600 },
          { family: 4, link: 3, metric: 100 },
        ],
      },
      1400,
    ],
    [
      'prefers IPv4',
      {
        links: [link(2, 9000), link(3, 1400)],
        defaultRoutes: [
          { family: 6, link: 2, metric: 0 },
          { family: 4, link: 3, metric: 100 },
        ],
      },
      1400,
    ],
    [
      'takes IPv6 when there is nothing else',
      { links: [link(2, 1280)], defaultRoutes: [{ family: 6, link: 2, metric: 1024 }] },
      1280,
    ],
    [
      'is the smallest of several ways',
      {
        links: [link(2, 9000), link(3, 1500)],
        defaultRoutes: [
          { family: 4, link: 2, metric: 0 },
          { family: 4, link: 3, metric: 0 },
        ],
      },
      1500,
    ],
    [
      'without a default route is the smallest of links that are up',
      { links: [lo, link(2, 9000), link(3, 1420), link(4, 900, { up: false })] },
      1420,
    ],
    ['does not look at pods', { links: [lo, link(2, 9000), link(3, 1280, { own: true })] }, 9000],
    ['without any link is 1500', {}, 1500],
    [
      'of a route whose link is gone',
      { links: [link(3, 1420)], defaultRoutes: [{ family: 4, link: 2, metric: 0 }] },
      1420,
    ],
  ])('%s', (_, change, expected) => {
    expect(discoverMtu(host(change))).toBe(expected);
  });
});

describe('a node lacks IPv4', () => {
  test.each<[string, readonly string[], boolean]>([
    ['with loopback alone', ['127.0.0.1/8', '::1/128'], true],
    ['with IPv6 alone', ['127.0.0.1/8', '2001:db8::1/64'], true],
    ['not with an address', ['127.0.0.1/8', '192.0.2.1/24'], false],
    ['not with an address on loopback', ['127.0.0.1/8', '192.0.2.1/32'], false],
  ])('%s', (_case, addresses, lacks) => {
    expect(lacksIPv4(host({ addresses: addresses.map((address) => ({ link: 1, address })) }))).toBe(lacks);
  });
});
