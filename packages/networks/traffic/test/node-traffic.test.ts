import { expect, test } from 'vitest';
import { isSource, planForwardAccept, planNodeTraffic, planSources, tunnel } from '@podwire/network-traffic';
import { nodeOf } from './fixtures.js';

const body = (...networks: Parameters<typeof planNodeTraffic>[0]): string =>
  planNodeTraffic(networks)[0].body;
/** The contents of sets, `SET PREFIX` each. */
const elements = (...call: Parameters<typeof planNodeTraffic>): string[] =>
  planNodeTraffic(...call).flatMap((resource) =>
    resource.kind === 'nft-element'
      ? [`${resource.set} ${resource.key.map(({ value }) => value).join()}`]
      : [],
  );

test('there is one table for all networks of the node, and elements of its sets', () => {
  const [table, ...others] = planNodeTraffic([
    nodeOf('a', ['10.1.0.0/16', true]),
    nodeOf('b', ['10.2.0.0/16', false]),
  ]);
  expect(table).toMatchObject({ kind: 'nft-table', family: 'inet', name: 'podwire' });
  const place = { kind: 'nft-element', family: 'inet', table: 'podwire' };
  expect(others).toEqual([
    { ...place, set: 'pools4', key: [{ type: 'ipv4_interval', value: '10.1.0.0/16' }] },
    { ...place, set: 'pools4', key: [{ type: 'ipv4_interval', value: '10.2.0.0/16' }] },
    { ...place, set: 'natpools4', key: [{ type: 'ipv4_interval', value: '10.1.0.0/16' }] },
  ]);
});

test('the table does not change with the pools', () => {
  const none = body();
  const pools = [
    ['10.2.0.0/16', true],
    ['fd00:2::/48', false],
  ] as const;
  expect(body(nodeOf('a', ...pools))).toBe(none);
  expect(body(nodeOf('a', ['10.1.0.0/16', false]), nodeOf('b', ...pools))).toBe(none);
  expect(planNodeTraffic([], [{ cidr: '10.7.0.0/16' }])[0].body).toBe(none);
  const guarded = { router: routerOf({ 4: false, 6: false }) };
  expect(body({ ...nodeOf('a'), ...guarded })).toBe(body({ ...nodeOf('a', ...pools), ...guarded }));
});

test('masquerades what leaves the pools and not what stays in any of them', () => {
  expect(body()).toMatch(
    /chain masquerade_outgoing \{\n\tip saddr @natpools4 ip daddr != @pools4 ip daddr != 224\.0\.0\.0\/4 masquerade fully-random\n\tip6 saddr @natpools6 ip6 daddr != @pools6 ip6 daddr != ff00::\/8 masquerade fully-random\n}/,
  );
  expect(
    elements([
      nodeOf('a', ['10.2.0.0/16', true], ['fd00:2::/48', true]),
      nodeOf('b', ['10.1.0.0/16', false]),
    ]),
  ).toEqual([
    'pools4 10.1.0.0/16',
    'pools4 10.2.0.0/16',
    'natpools4 10.2.0.0/16',
    'pools6 fd00:2::/48',
    'natpools6 fd00:2::/48',
  ]);
});

test('no network means no elements', () => {
  expect(elements([])).toEqual([]);
});

test('pools within pools and doubled ones appear once', () => {
  expect(
    elements([
      nodeOf('a', ['10.0.0.0/8', true], ['10.1.0.0/16', true]),
      nodeOf('b', ['10.0.0.0/8', true], ['10.1.2.0/24', false]),
    ]),
  ).toEqual(['pools4 10.0.0.0/8', 'natpools4 10.0.0.0/8']);
});

test('neighbours, single addresses and everything keep their prefixes', () => {
  const pools = ['0.0.0.0/1', '128.0.0.0/1', '::/0'].map((cidr) => [cidr, false] as const);
  expect(elements([nodeOf('a', ...pools)])).toEqual([
    'pools4 0.0.0.0/1',
    'pools4 128.0.0.0/1',
    'pools6 ::/0',
  ]);
  expect(elements([nodeOf('a', ['255.255.255.255/32', true])])).toContain('natpools4 255.255.255.255/32');
});

test('the order of networks and pools does not change the plan', () => {
  const a = nodeOf('a', ['10.1.0.0/16', true], ['10.3.0.0/16', true]);
  const b = nodeOf('b', ['10.2.0.0/16', true], ['10.0.0.0/16', false]);
  const mixed = nodeOf('a', ['10.3.0.0/16', true], ['10.1.0.0/16', true]);
  expect(planNodeTraffic([b, mixed])).toEqual(planNodeTraffic([a, b]));
});

test('pods are known by their prefix, not by rules of their own', () => {
  const text = body(nodeOf('a', ['10.1.0.0/16', true]));
  expect(text).toContain('iifname "cali*" jump from_pod');
});

test('who is in no set of sources has to be known to the routes', () => {
  const text = body();
  for (const [ip, family] of [
    ['ip', 4],
    ['ip6', 6],
  ] as const) {
    expect(text).toContain(`set sources${family} { type ifname . ipv${family}_addr; }`);
    expect(text).toContain(`\tiifname . ${ip} saddr != @sources${family} fib saddr . iif oif missing drop\n`);
  }
});

test('each address of a link is a source, and only these elements are', () => {
  const sources = planSources('cali1', ['10.1.0.2', 'fd00:1::2']);
  const place = { kind: 'nft-element', family: 'inet', table: 'podwire' };
  const link = { type: 'ifname', value: 'cali1' };
  expect(sources).toEqual([
    { ...place, set: 'sources4', key: [link, { type: 'ipv4_addr', value: '10.1.0.2' }] },
    { ...place, set: 'sources6', key: [link, { type: 'ipv6_addr', value: 'fd00:1::2' }] },
  ]);
  expect(sources.every(isSource)).toBe(true);
  expect(planNodeTraffic([nodeOf('a', ['10.1.0.0/16', true])]).some(isSource)).toBe(false);
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
  expect(text).toContain('meta nfproto ipv4 udp dport 4789 @th,96,24 4096 ip daddr != @pools4 drop');
  expect(text).toContain('meta nfproto ipv6 udp dport 4789 @th,96,24 4096 ip6 daddr != @pools6 drop');
});

test('pools of the cluster that this node has no network for are inside too', () => {
  expect(elements([nodeOf('a', ['10.2.0.0/16', true])], [{ cidr: '10.7.0.0/16' }])).toEqual([
    'pools4 10.2.0.0/16',
    'pools4 10.7.0.0/16',
    'natpools4 10.2.0.0/16',
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
  expect(text).toContain('chain others4 {\n\tip daddr @pools4 accept\n');
  expect(text).toContain('\tmeta iifkind "bridge" accept\n');
});

test('what was no router before forwards through the links of models, each named once', () => {
  const node = { ...nodeOf('a', ['10.1.0.0/16', true]), router: routerOf({ 4: false }) };
  const text = planNodeTraffic([node], [], ['tun0', 'tun0'])[0].body;
  expect(text.match(/iifname "tun0" accept\n\toifname "tun0" accept/g)).toHaveLength(1);
  expect(body(node)).not.toContain('tun0');
  for (const { links } of planForwardAccept(['tun0', 'tun0']))
    expect(links).toEqual(['cali*', tunnel.link, 'tun0']);
});

test('a bridge that was there before is one of the node’s own networks', () => {
  const node = { ...nodeOf('a', ['fd00:1::/48', true]), router: routerOf({ 6: false }, ['br1', 'br0']) };
  expect(body(node)).toContain('meta oifkind "bridge" oifname != { "br0", "br1" } accept\n\tdrop\n}');
});
