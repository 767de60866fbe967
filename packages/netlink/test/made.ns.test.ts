/** Shows what this library makes to iproute2. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import {
  addAddressRequest,
  addFilterRequest,
  addNeighbourRequest,
  addQdiscRequest,
  addRouteRequest,
  addRuleRequest,
  createLinkRequest,
  setLinkRequest,
} from '@podwire/netlink';
import { withNamespace } from './private-namespace.js';

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('what this library makes is what iproute2 sees', () => {
  withNamespace((namespace) => {
    namespace.connection.request([
      createLinkRequest({
        kind: 'veth',
        name: 'a',
        index: 10,
        mtu: 1450,
        group: 5,
        peer: { name: 'b', index: 11 },
      }),
      createLinkRequest({ kind: 'ifb', name: 'i0', index: 30, up: true }),
      setLinkRequest(10, { addressGenerationMode: 'none', inetSettings: { proxy_arp: 1, rp_filter: 2 } }),
      setLinkRequest(10, { up: true }),
      setLinkRequest(11, { up: true }),
      addAddressRequest({ link: 10, address: '10.0.0.1/32' }),
      addRouteRequest({ destination: '169.254.1.1/32', link: 10 }),
      addRouteRequest({ destination: '0.0.0.0/0', gateway: '169.254.1.1', link: 10, mtu: 1400 }),
      addRouteRequest({ destination: '10.1.0.0/26', type: 'blackhole', table: 1000, protocol: 80 }),
      addRuleRequest({ family: 4, priority: 77, mark: 0x10, markMask: 0xf0, table: 1000 }),
      addNeighbourRequest({ link: 10, address: '169.254.1.1', mac: 'ee:ee:ee:ee:ee:ee' }),
      addQdiscRequest({ link: 30, kind: 'tbf', rate: 1_000_000, burst: 20_000, limit: 30_000 }),
      addQdiscRequest({ link: 10, kind: 'ingress' }),
      addFilterRequest({
        link: 10,
        priority: 1,
        action: { kind: 'mirred', target: 30, direction: 'egress' },
      }),
    ]);
    const show = (program: string, ...args: string[]) =>
      run(program, ['-n', namespace.name, ...args])
        .trim()
        .split(/\s+/)
        .join(' ');
    assert.match(show('ip', '-d', 'link', 'show', 'a'), /mtu 1450 .* group 5 .* addrgenmode none/);
    const { name } = namespace;
    const parameter = (key: string) =>
      run('ip', ['netns', 'exec', name, 'cat', `/proc/sys/net/ipv4/conf/a/${key}`]);
    assert.deepEqual(['proxy_arp', 'rp_filter'].map(parameter), ['1\n', '2\n']);
    assert.equal(
      show('ip', 'route'),
      'default via 169.254.1.1 dev a proto static mtu 1400 169.254.1.1 dev a proto static scope link',
    );
    assert.match(show('ip', 'route', 'show', 'table', '1000'), /^blackhole 10\.1\.0\.0\/26 proto 80$/);
    assert.match(show('ip', 'rule'), /77: from all fwmark 0x10\/0xf0 lookup 1000/);
    assert.equal(
      show('ip', 'neigh', 'show', 'nud', 'permanent'),
      '169.254.1.1 dev a lladdr ee:ee:ee:ee:ee:ee PERMANENT',
    );
    assert.match(show('tc', 'qdisc', 'show', 'dev', 'i0'), /tbf .* rate 1Mbit burst 20000b lat 80ms/);
    assert.match(
      show('tc', 'filter', 'show', 'dev', 'a', 'ingress'),
      /protocol all pref 1 u32 .* mirred \(Egress Redirect to device i0\) stolen/,
    );
  });
});
