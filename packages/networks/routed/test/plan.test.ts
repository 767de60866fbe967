import { expect, test } from 'vitest';
import fc from 'fast-check';
import { linuxRegistry } from '@podwire/backend-linux';
import { inApplyOrder } from '@podwire/engine';
import type { Endpoint, NodeView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';

const model = createRoutedModel();
const node: NodeView = {
  name: 'node1',
  network: {
    name: 'default',
    model: 'routed',
    pools: [
      { name: 'ipv4', cidr: '10.244.0.0/16', natOutgoing: true },
      { name: 'ipv6', cidr: 'fd00:244::/48', natOutgoing: true },
    ],
  },
  blocks: ['10.244.0.0/26', 'fd00:244::/122'],
  mtu: 1450,
  ipv4: true,
  ipv6: true,
};
const ipv4 = { address: '10.244.0.2', pool: 'ipv4' };
const ipv6 = { address: 'FD00:244:0::2', pool: 'ipv6' };
const pod: Endpoint = {
  id: { containerId: 'c1', ifName: 'eth0', network: 'default' },
  pod: { namespace: 'namespace', name: 'podname' },
  leases: [ipv4, ipv6],
  mac: '02:00:00:00:00:02',
  portMappings: [],
};
const cali = 'cali82111e10a96';
const hostMac = 'ee:ee:ee:ee:ee:ee';
const fe80 = 'fe80::ecee:eeff:feee:eeee';

test('a node forwards, and rejects packets to unused addresses', () => {
  const sysctl = { kind: 'sysctl', in: 'host', value: '1', after: ['nft-table inet podwire'] };
  expect(model.planNode(node)).toEqual([
    { ...sysctl, key: 'net/ipv4/ip_forward' },
    { ...sysctl, key: 'net/ipv4/conf/default/forwarding' },
    { ...sysctl, key: 'net/ipv6/conf/all/forwarding' },
    { kind: 'route', in: 'host', type: 'blackhole', destination: '10.244.0.0/26', metric: 4096 },
    { kind: 'route', in: 'host', type: 'blackhole', destination: 'fd00:244::/122', metric: 4096 },
  ]);
});

test('a node without an IPv4 address gets the gateway of its pods, to speak to them', () => {
  const own = { kind: 'address', in: 'host', link: 'lo', address: '169.254.1.1/32', marked: true };
  expect(model.planNode({ ...node, lacksIPv4: true })).toContainEqual(own);
  const others: Partial<NodeView>[] = [{}, { lacksIPv4: false }, { lacksIPv4: true, ipv4: false }];
  for (const other of others) expect(model.planNode({ ...node, ...other })).not.toContainEqual(own);
});

test('a node without IPv6 is not asked for it', () => {
  const keys = model.planNode({ ...node, ipv6: false, blocks: [] }).map((one) => 'key' in one && one.key);
  expect(keys).toEqual(['net/ipv4/ip_forward', 'net/ipv4/conf/default/forwarding']);
});

test('a node forwards only what it has pools of', () => {
  const [, ...onlyIPv6] = node.network.pools;
  const network = { ...node.network, pools: onlyIPv6 };
  const keys = model.planNode({ ...node, network, blocks: [] }).map((one) => 'key' in one && one.key);
  expect(keys).toEqual(['net/ipv6/conf/all/forwarding']);
});

test('links that listened to router advertisements go on, and are told so before the node is a router', () => {
  const router = {
    forwarded: { 4: true, 6: false },
    bridges: { 4: [], 6: [] },
    advertised: ['default', 'eth0'],
  };
  const keysOf = (before: typeof router): string[] =>
    model
      .planNode({ ...node, router: before })
      .flatMap((one) => (one.kind === 'sysctl' && one.value === '2' ? [one.key] : []));
  expect(keysOf(router)).toEqual(['net/ipv6/conf/default/accept_ra', 'net/ipv6/conf/eth0/accept_ra']);
  const keys = model.planNode({ ...node, router }).flatMap((one) => (one.kind === 'sysctl' ? [one.key] : []));
  expect(keys.at(-1)).toBe('net/ipv6/conf/all/forwarding');
  const keysOfPod = model
    .planEndpoint(pod, { ...node, router })
    .resources.flatMap((one) => ('key' in one ? [one.key] : []));
  expect(keysOfPod).toContain(`net/ipv6/conf/${cali}/accept_ra`);
  // A router accepted no redirects.
  expect(keysOf({ ...router, forwarded: { 4: false, 6: true } })).toEqual([]);
});

test('a dual-stack pod', () => {
  const plan = model.planEndpoint(pod, node);
  const inPod = { in: 'pod', link: 'eth0' } as const;
  const onHost = { in: 'host', link: cali } as const;
  expect(plan.resources).toEqual([
    { kind: 'veth', host: { name: cali, mac: hostMac }, pod: { name: 'eth0', mac: pod.mac }, mtu: 1450 },
    { kind: 'sysctl', in: 'pod', key: 'net/ipv6/conf/all/disable_ipv6', value: '0' },
    { kind: 'sysctl', in: 'pod', key: 'net/ipv4/ip_forward', value: '0', initial: true },
    { kind: 'link-up', in: 'pod', link: 'lo' },
    { kind: 'link-up', ...inPod },
    { kind: 'address', ...inPod, address: '10.244.0.2/32' },
    { kind: 'address', ...inPod, address: 'fd00:244::2/128' },
    { kind: 'neighbour', ...inPod, address: '169.254.1.1', mac: hostMac },
    { kind: 'neighbour', ...inPod, address: fe80, mac: hostMac },
    { kind: 'route', ...inPod, destination: '169.254.1.1/32', scope: 'link' },
    { kind: 'route', ...inPod, destination: '0.0.0.0/0', gateway: '169.254.1.1' },
    { kind: 'route', ...inPod, destination: '::/0', gateway: fe80 },
    { kind: 'sysctl', in: 'host', key: `net/ipv4/conf/${cali}/rp_filter`, value: '1' },
    { kind: 'sysctl', in: 'host', key: `net/ipv4/conf/${cali}/proxy_arp`, value: '1' },
    { kind: 'sysctl', in: 'host', key: `net/ipv6/conf/${cali}/disable_ipv6`, value: '0' },
    { kind: 'link-local-mode', ...onHost, mode: 'manual' },
    { kind: 'address', ...onHost, address: `${fe80}/64` },
    { kind: 'link-up', ...onHost },
    { kind: 'route', ...onHost, destination: '10.244.0.2/32', scope: 'link' },
    { kind: 'route', ...onHost, destination: 'fd00:244::2/128' },
    { kind: 'link-ready', ...onHost },
    { kind: 'link-ready', ...inPod },
  ]);
  expect(plan).toMatchObject({
    links: [
      { side: 'host', name: cali, mac: hostMac },
      { side: 'pod', name: 'eth0', mac: pod.mac },
    ],
    mtu: 1450,
    routes: [
      { dst: '0.0.0.0/0', gw: '169.254.1.1' },
      { dst: '::/0', gw: fe80 },
    ],
    gateways: [undefined, undefined],
  });
});

test('a pod of one family has nothing of the other, and no link-local gateway either', () => {
  const four = JSON.stringify(model.planEndpoint({ ...pod, leases: [ipv4] }, node));
  expect(four).toContain('"link-local-mode"');
  expect(four).not.toMatch(/fe80|disable_ipv6|::/);
  expect(JSON.stringify(model.planEndpoint({ ...pod, leases: [ipv6] }, node))).not.toMatch(
    /169\.254|proxy_arp/,
  );
  const noIPv6 = model.planEndpoint({ ...pod, leases: [ipv4] }, { ...node, ipv6: false });
  expect(JSON.stringify(noIPv6)).not.toContain('link-local-mode');
});

test('a further interface routes by source and leaves the default route alone', () => {
  const plan = model.planEndpoint({ ...pod, id: { ...pod.id, ifName: 'net1' } }, node);
  const rules = plan.resources.filter((one) => one.kind === 'rule');
  const defaults = plan.resources
    .filter((one) => one.kind === 'route')
    .filter((route) => route.gateway !== undefined);
  const table = rules[0]!.table;
  expect(rules.map(({ from }) => from)).toEqual(['10.244.0.2/32', 'fd00:244::2/128']);
  expect(defaults).toHaveLength(4);
  for (const route of defaults) expect([route.table, route.metric]).toContain(table);
  expect(plan.routes).toEqual([]);
});

test('ports and rates travel with the links, addresses and elements they belong to', () => {
  const plan = model.planEndpoint(
    {
      ...pod,
      portMappings: [{ hostPort: 53, containerPort: 53, protocol: 'udp' }],
      bandwidth: { ingressRate: 1_000_000, egressRate: 1_000_000 },
    },
    node,
  );
  const runs = inApplyOrder(linuxRegistry, plan.resources).map(
    (one) => `${one.kind}${'in' in one ? ` ${one.in}` : ''}`,
  );
  expect(runs.filter((run, index) => run !== runs[index - 1])).toEqual([
    'veth',
    'ifb',
    'sysctl pod',
    'link-up pod',
    'address pod',
    'neighbour pod',
    'route pod',
    'sysctl host',
    'link-local-mode host',
    'address host',
    'link-up host',
    'route host',
    'link-ready host',
    'token-bucket host',
    'ingress-redirect host',
    'sysctl host',
    'route host',
    'link-ready pod',
    'nft-element',
    'conntrack-reset',
  ]);
});

test('what cannot be asked for is refused before anything is planned', () => {
  const refused = { ...pod, bandwidth: { ingressRate: 1 } };
  expect(() => model.planEndpoint(refused, node)).toThrow(
    expect.objectContaining({ code: 'REQUEST_INVALID' }),
  );
});

const octet = fc.integer({ min: 1, max: 254 });
const requests = fc.record({
  id: fc.record({
    containerId: fc.stringMatching(/^[a-z0-9]{1,64}$/),
    ifName: fc.constantFrom('eth0', 'net1', 'weird.name-15ch'),
    network: fc.constantFrom('default', 'other'),
  }),
  pod: fc.constantFrom({}, { namespace: 'a', name: 'b' }),
  leases: fc
    .tuple(octet, fc.boolean(), fc.boolean())
    .map(([n, v4, v6]) => [
      ...(v4 ? [{ address: `10.244.0.${n}`, pool: 'ipv4' }] : []),
      ...(v6 ? [{ address: `fd00:244::${n.toString(16)}`, pool: 'ipv6' }] : []),
    ]),
  mac: fc.constant('02:00:00:00:00:02'),
  portMappings: fc.uniqueArray(
    fc.record({
      hostPort: fc.integer({ min: 1, max: 65_535 }),
      containerPort: fc.integer({ min: 1, max: 65_535 }),
      protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'sctp' as const),
    }),
    { selector: ({ hostPort }) => hostPort, maxLength: 5 },
  ),
  bandwidth: fc.record({
    ingressRate: fc.constantFrom(0, 1_000, 1e9, 1e15),
    egressRate: fc.constantFrom(0, 1_000, 1e9, 1e15),
  }),
});

test('every plan is plain data, the same each time, and names each thing once', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { resources } = model.planEndpoint(request, node);
      expect(JSON.parse(JSON.stringify(resources))).toEqual(resources);
      expect(model.planEndpoint(structuredClone(request), structuredClone(node)).resources).toEqual(
        resources,
      );
      expect(new Set(resources.map((one) => JSON.stringify(one))).size).toBe(resources.length);
    }),
  );
});

test('every link that a plan speaks of is one it makes, or lo', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { resources } = model.planEndpoint(request, node);
      const made = resources.flatMap((one) => {
        if (one.kind === 'veth') return [`host ${one.host.name}`, `pod ${one.pod.name}`];
        return one.kind === 'ifb' ? [`host ${one.name}`] : [];
      });
      for (const one of resources) {
        if ('link' in one && one.link !== undefined)
          expect(['pod lo', ...made]).toContain(`${one.in} ${one.link}`);
        if (one.kind === 'ingress-redirect') expect(made).toContain(`host ${one.target}`);
      }
    }),
  );
});

test('every address of a pod has a route on the host and in the pod', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { resources } = model.planEndpoint(request, node);
      const text = resources.map((one) => JSON.stringify(one));
      for (const { address } of request.leases) {
        const prefix = `"${address}/${address.includes(':') ? 128 : 32}"`;
        expect(text.some((one) => one.includes('"host"') && one.includes(`"destination":${prefix}`))).toBe(
          true,
        );
        expect(text.some((one) => one.includes('"pod"') && one.includes(`"address":${prefix}`))).toBe(true);
      }
    }),
  );
});
