import { expect, test } from 'vitest';
import { planNodeTraffic } from '@podwire/network-traffic';
import { nodeOf } from './fixtures.js';

const body = (...networks: Parameters<typeof planNodeTraffic>[0]): string =>
  planNodeTraffic(networks)[0]!.body;
const outgoing = (text: string): string[] =>
  /chain masquerade_outgoing \{\n([^}]*)\}/
    .exec(text.replaceAll(/\{ ([^}]*) \}/g, '<$1>'))![1]!
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

test('one table for all networks of the node', () => {
  const tables = planNodeTraffic([nodeOf('a', ['10.1.0.0/16', true]), nodeOf('b', ['10.2.0.0/16', false])]);
  expect(tables).toHaveLength(1);
  expect(tables[0]).toMatchObject({ kind: 'nft-table', family: 'inet', name: 'podwire' });
});

test('what leaves the pools is masqueraded, what stays in any of them is not', () => {
  const text = body(
    nodeOf('a', ['10.2.0.0/16', true], ['fd00:2::/48', true]),
    nodeOf('b', ['10.1.0.0/16', false]),
  );
  expect(outgoing(text)).toEqual([
    'ip saddr <10.2.0.0/16> ip daddr != <10.1.0.0/16, 10.2.0.0/16, 224.0.0.0/4> masquerade fully-random',
    'ip6 saddr <fd00:2::/48> ip6 daddr != <fd00:2::/48, ff00::/8> masquerade fully-random',
  ]);
});

test('a family without masqueraded pools has no rule', () => {
  expect(outgoing(body(nodeOf('a', ['10.1.0.0/16', false], ['fd00::/48', true])))).toHaveLength(1);
  expect(outgoing(body())).toEqual([]);
});

test('pools within pools and doubled ones appear once', () => {
  const text = body(
    nodeOf('a', ['10.0.0.0/8', true], ['10.1.0.0/16', true]),
    nodeOf('b', ['10.0.0.0/8', true], ['10.1.2.0/24', false]),
  );
  expect(outgoing(text)).toEqual([
    'ip saddr <10.0.0.0/8> ip daddr != <10.0.0.0/8, 224.0.0.0/4> masquerade fully-random',
  ]);
});

test('the order of networks and pools does not change the text', () => {
  const a = nodeOf('a', ['10.1.0.0/16', true], ['10.3.0.0/16', true]);
  const b = nodeOf('b', ['10.2.0.0/16', true], ['10.0.0.0/16', false]);
  const mixed = nodeOf('a', ['10.3.0.0/16', true], ['10.1.0.0/16', true]);
  expect(body(b, mixed)).toBe(body(a, b));
});

test('pods are known by their prefix, not by elements or rules of their own', () => {
  const text = body(nodeOf('a', ['10.1.0.0/16', true]));
  expect(text).toContain('iifname "cali*" jump from_pod');
  expect(text).toContain('fib saddr . iif oif missing drop');
});

test('every set and map that host ports use is declared', () => {
  const declared = [...body().matchAll(/^(?:set|map) (h\w+) /gm)].map(([, name]) => name);
  expect(declared).toEqual([
    'hostports4',
    'hostports6',
    'hostipports4',
    'hostipports6',
    'hairpins4',
    'hairpins6',
  ]);
});

const underlay = { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24' };
const tunnelled = (changes: Partial<ReturnType<typeof nodeOf>> = {}): ReturnType<typeof nodeOf> => {
  const node = nodeOf('a', ['10.1.0.0/16', true], ['fd00:1::/48', true]);
  const pools = node.network.pools.map((pool) => ({ ...pool, encapsulation: 'vxlan' as const }));
  return { ...node, underlay, network: { ...node.network, pools }, ...changes };
};

test('without tunnels there are no rules about them', () => {
  const { underlay: _, ...alone } = tunnelled();
  for (const text of [body(nodeOf('a', ['10.1.0.0/16', true])), body(alone)])
    expect(text).not.toMatch(/tunnel|4789|notrack/);
});

test('tunnels: known peers only, not tracked, after what pods must not send', () => {
  const text = body(tunnelled());
  expect(text).toContain('set tunnelpeers4 { type ipv4_addr; }');
  expect(text).toMatch(
    /jump from_pod\n\tudp dport 4789 @th,96,24 4096 fib daddr type local jump tunnel_in\n}/,
  );
  expect(text).toMatch(/chain tunnel_in \{\n\tip saddr @tunnelpeers4 notrack accept\n\tdrop\n}/);
  expect(text).toContain('ip daddr @tunnelpeers4 notrack');
  const six = body(tunnelled({ underlay: { link: 'eth0', mtu: 1500, ipv6: '2001:db8::1/64' } }));
  expect(six).toContain('ip6 saddr @tunnelpeers6 notrack accept');
  expect(six).not.toContain('tunnelpeers4');
});

test('pods may not send out of the pools what a peer would take for a tunnel of this node', () => {
  const text = body(tunnelled());
  expect(text).toContain('meta nfproto ipv4 udp dport 4789 @th,96,24 4096 ip daddr != { 10.1.0.0/16 } drop');
  expect(text).toContain('meta nfproto ipv6 udp dport 4789 @th,96,24 4096 ip6 daddr != { fd00:1::/48 } drop');
});

test('pools of the cluster that this node has no network for are inside too', () => {
  const [table] = planNodeTraffic([nodeOf('a', ['10.2.0.0/16', true])], [{ cidr: '10.7.0.0/16' }]);
  expect(outgoing(table!.body)).toEqual([
    'ip saddr <10.2.0.0/16> ip daddr != <10.2.0.0/16, 10.7.0.0/16, 224.0.0.0/4> masquerade fully-random',
  ]);
});

const routerOf = (forwarded: { 4?: boolean; 6?: boolean }, bridges: readonly string[] = []) => ({
  forwarded,
  bridges: { 4: bridges, 6: bridges },
  advertised: [],
});

test('what was no router before forwards only for pods, each family for itself', () => {
  const node = nodeOf('a', ['10.1.0.0/16', true], ['fd00:1::/48', true]);
  for (const router of [undefined, routerOf({}), routerOf({ 4: true, 6: true })])
    expect(body({ ...node, ...(router === undefined ? {} : { router }) })).not.toContain('hook forward');
  const text = body({ ...node, router: routerOf({ 4: false, 6: true }) });
  expect(text).toContain('meta nfproto ipv4 jump others4\n}');
  expect(text).not.toContain('others6');
  expect(text).toContain('chain others4 {\n\tip daddr { 10.1.0.0/16 } accept\n');
  expect(text).toContain('\tmeta iifkind "bridge" accept\n');
});

test('a bridge that was there before is one of the node’s own networks', () => {
  const node = { ...nodeOf('a', ['fd00:1::/48', true]), router: routerOf({ 6: false }, ['br1', 'br0']) };
  expect(body(node)).toContain('meta oifkind "bridge" oifname != { "br0", "br1" } accept\n\tdrop\n}');
});
