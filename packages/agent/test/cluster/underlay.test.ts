import { describe, expect, test } from 'vitest';
import { chooseUnderlay, type LinkAddress } from '../../src/cluster/underlay.js';
import type { HostView } from '../../src/node/host-view.js';

const link = (index: number, name: string, more: object = {}) => ({
  index,
  name,
  mtu: 1500 - index,
  up: true,
  loopback: false,
  own: false,
  ...more,
});
const host: HostView = {
  links: [
    link(1, 'lo', { loopback: true }),
    link(2, 'eth0'),
    link(3, 'eth1'),
    link(4, 'cali1', { own: true }),
  ],
  defaultRoutes: [{ family: 4, link: 2, metric: 0 }],
  addresses: [],
  nextHops: [],
  ipv6: true,
};
const address = (index: number, text: string, more: Partial<LinkAddress> = {}): LinkAddress => ({
  link: index,
  address: text,
  global: true,
  passing: false,
  ...more,
});
const addresses = [
  address(1, '127.0.0.1/8', { global: false }),
  address(2, 'fe80::2/64', { global: false }),
  address(2, '2001:db8::99/64', { passing: true }),
  address(2, '192.0.2.2/24'),
  address(2, '192.0.2.3/24'),
  address(2, '2001:db8::2/64'),
  address(3, '198.51.100.3/25'),
];

describe('the underlay', () => {
  test('a link that is named is meant with its addresses, also where they are on the bridge that it has joined', () => {
    const bridge = { ...link(9, 'br-net1'), uplink: 'eth0' };
    const moved = { ...host, links: [...host.links, bridge] };
    const found = chooseUnderlay(moved, [address(9, '192.0.2.9/24')], 'eth0');
    expect(found).toEqual({ link: 'br-net1', mtu: 1491, ipv4: '192.0.2.9/24' });
  });

  test('by default: the first lasting addresses of the uplink', () => {
    expect(chooseUnderlay(host, addresses, undefined)).toEqual({
      link: 'eth0',
      mtu: 1498,
      ipv4: '192.0.2.2/24',
      ipv6: '2001:db8::2/64',
    });
  });

  test('an address of its own length is taken only where there is no other, whatever the kernel lists first', () => {
    const [virtual4, virtual6] = [address(2, '192.0.2.100/32'), address(2, 'fd00:10:1::100/128')];
    expect(chooseUnderlay(host, [virtual4, virtual6, ...addresses], undefined)).toMatchObject({
      ipv4: '192.0.2.2/24',
      ipv6: '2001:db8::2/64',
    });
    expect(chooseUnderlay(host, [virtual4, virtual6], undefined)).toMatchObject({
      ipv4: '192.0.2.100/32',
      ipv6: 'fd00:10:1::100/128',
    });
  });

  test('the addresses so far stay as long as the link has them and they do not pass', () => {
    const earlier = { ipv4: '192.0.2.3/24', ipv6: '2001:db8::2/64' };
    const choose = (listed: readonly LinkAddress[]) => chooseUnderlay(host, listed, undefined, earlier);
    expect(choose([address(2, '2001:db8::1/64'), ...addresses])).toMatchObject(earlier);
    const without = addresses.filter(({ address: text }) => text !== earlier.ipv4);
    expect(choose(without)).toMatchObject({ ipv4: '192.0.2.2/24', ipv6: earlier.ipv6 });
    const deprecated = addresses.map((each) =>
      each.address === earlier.ipv6 ? { ...each, passing: true } : each,
    );
    expect(choose([...deprecated, address(2, '2001:db8::3/64')])).toMatchObject({
      ipv4: earlier.ipv4,
      ipv6: '2001:db8::3/64',
    });
  });

  test('without a default route: links of containers are passed over', () => {
    const links = [...host.links.slice(0, 2), link(5, 'docker0'), link(6, 'nodelocaldns')];
    const more = [address(5, '172.17.0.1/16'), address(6, '169.254.20.10/32')];
    const alone = { ...host, links, defaultRoutes: [] };
    expect(chooseUnderlay(alone, [...more, ...addresses.slice(0, 6)], undefined)).toMatchObject({
      link: 'eth0',
    });
  });

  test('a link by name, an address, an address with a length of its own, one of each family', () => {
    expect(chooseUnderlay(host, addresses, 'eth1')).toEqual({
      link: 'eth1',
      mtu: 1497,
      ipv4: '198.51.100.3/25',
    });
    expect(chooseUnderlay(host, addresses, '198.51.100.3')).toMatchObject({
      link: 'eth1',
      ipv4: '198.51.100.3/25',
    });
    expect(chooseUnderlay(host, addresses, '198.51.100.3/32')).toMatchObject({ ipv4: '198.51.100.3/32' });
    expect(chooseUnderlay(host, addresses, ['2001:db8:0::2', '192.0.2.3'])).toMatchObject({
      link: 'eth0',
      ipv4: '192.0.2.3/24',
      ipv6: '2001:db8::2/64',
    });
  });

  test('without a default route: the only link that has a global address', () => {
    const alone = { ...host, defaultRoutes: [] };
    expect(chooseUnderlay(alone, addresses.slice(0, 6), undefined)).toMatchObject({ link: 'eth0' });
    expect(() => chooseUnderlay(alone, addresses, undefined)).toThrow(
      /any of eth0, eth1; set cluster.address/,
    );
    expect(() => chooseUnderlay(alone, [], undefined)).toThrow(/no interface has a global address/);
  });

  test('what is not there is said, and may come', () => {
    expect(() => chooseUnderlay(host, addresses, '203.0.113.1')).toThrow(
      expect.objectContaining({
        code: 'AGENT_NOT_READY',
        message: expect.stringContaining('203.0.113.1') as string,
      }),
    );
    expect(() => chooseUnderlay(host, [], undefined)).toThrow(/eth0 has no global address/);
  });
});
