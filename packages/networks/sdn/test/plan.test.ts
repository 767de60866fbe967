import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { addFlow, connectSwitch, formatFlow, parseFlow } from '@podwire/openflow';
import { FakeSwitch } from '@podwire/openflow/fake';
import {
  describeTable,
  gatewayOf,
  peerCookie,
  planBridgeFlows,
  planMulticastFlows,
  planMulticastToPeers,
  planPeerFlows,
  planPodFlows,
  planProjectFlows,
  planVersionFlow,
  podMac,
  readVersion,
  RULE_VERSION,
  tables,
} from '@podwire/network-sdn';
import { nodeOf, peerOf, planNode, podOf } from './cluster.js';
import { goldenCases, goldenFile, listFlows } from './golden.js';

const node = nodeOf(1, { mode: 'multitenant', nodes: 1, pods: [] });
const textsOf = (flows: Parameters<typeof formatFlow>[0][]): string[] => flows.map(formatFlow);

describe.each(goldenCases)('the flows of a node with two pods and a peer ($name)', ({ name, options }) => {
  const flows = planNode(1, options);

  // When they change, RULE_VERSION goes up, and the list of the new version is written. A node that starts with new flows
  // replaces what an older version has left by that number alone.
  test(`are those of rule version ${RULE_VERSION}`, () => {
    expect(listFlows(flows)).toEqual(fs.readFileSync(goldenFile(name), 'utf8').trimEnd().split('\n'));
  });

  test('have the form in which a switch shows them, so that a comparison finds no difference', async () => {
    const fake = new FakeSwitch();
    const connection = await connectSwitch(fake.connect());
    await connection.applyBundle(flows.map(addFlow));
    const shown = await connection.dump('flow');
    expect(new Set(shown.map(({ flow }) => flow))).toEqual(new Set(flows));
    connection.close();
  });

  test('are all different in table, priority and match', () => {
    const places = flows.map(({ table, priority, match }) => JSON.stringify([table, priority, match]));
    expect(new Set(places).size).toBe(flows.length);
  });

  test('never write an action set, with which ct would end ovs-vswitchd 3.1', () => {
    expect(flows.filter(({ write, clear }) => write !== undefined || clear !== undefined)).toEqual([]);
  });

  test('lead to tables that drop what they have no flow for', () => {
    const endless = new Set(
      flows.filter(({ match }) => Object.keys(match ?? {}).length === 0).map((flow) => flow.table),
    );
    const targets = new Set(flows.flatMap(({ goto }) => (goto === undefined ? [] : [goto])));
    // Table 31 has a last flow for IP and one for ARP, and nothing else gets there.
    expect([...targets].filter((table) => !endless.has(table) && table !== tables.route)).toEqual([]);
  });
});

test('a node of several cluster networks knows all of them', () => {
  const two = { ...node, clusterNetworks: ['10.128.0.0/14', '10.200.0.0/16'] };
  const more = textsOf(planBridgeFlows(two)).filter((text) => !textsOf(planBridgeFlows(node)).includes(text));
  expect(more).toEqual([
    'table=0,priority=200,in_port=1,arp,arp_spa=10.200.0.0/16,arp_tpa=10.128.2.0/23,actions=move:tun_id[0..31]->reg0[],goto_table:10',
    'table=0,priority=200,in_port=1,ip,ip_src=10.200.0.0/16,actions=move:tun_id[0..31]->reg0[],goto_table:10',
    'table=0,priority=200,in_port=1,ip,ip_dst=10.200.0.0/16,actions=move:tun_id[0..31]->reg0[],goto_table:10',
    'table=0,priority=300,in_port=2,ip,ip_src=10.128.2.0/23,ip_dst=10.200.0.0/16,actions=goto_table:25',
    'table=0,priority=200,in_port=2,arp,arp_spa=10.128.2.1,arp_tpa=10.200.0.0/16,actions=goto_table:30',
    'table=31,priority=100,arp,arp_tpa=10.200.0.0/16,actions=goto_table:50',
    'table=31,priority=100,ip,ip_dst=10.200.0.0/16,actions=goto_table:90',
  ]);
});

test('the cookie of a peer is that of OpenShift', () => {
  expect(peerCookie('node1UID')).toBe('0xf46ee1a');
});

test('a peer with a fixed VNID gets everything with that one', () => {
  const flows = planPeerFlows({ ...peerOf(2), fixedVnid: 4097 });
  const load = { type: 'load', value: 4097, to: { field: 'tun_id', start: 0, bits: 32 } };
  expect(flows.map(({ actions }) => actions?.[0])).toEqual([undefined, load, load]);
});

test('multicast goes to each peer once, in the order of addresses', () => {
  const peers = [10, 9, 9].map(peerOf);
  expect(formatFlow(planMulticastToPeers(peers))).toBe(
    'table=111,priority=100,actions=move:reg0[]->tun_id[0..31],set_field:192.0.2.9->tun_dst,output:1,' +
      'set_field:192.0.2.10->tun_dst,output:1,goto_table:120',
  );
  expect(formatFlow(planMulticastToPeers([]))).toBe('table=111,priority=100,actions=goto_table:120');
});

test('a project with multicast and no pod here sends nowhere on this node', () => {
  expect(textsOf(planMulticastFlows(42, []))).toEqual([
    'table=110,priority=100,reg0=0x2a,actions=goto_table:111',
  ]);
});

test('the global project, and every project in the mode subnet, needs no flows of its own', () => {
  expect(planProjectFlows('multitenant', 0)).toEqual([]);
  expect(planProjectFlows('subnet', 42)).toEqual([]);
});

test('the note has the number of the mode and the version', () => {
  expect(planVersionFlow('subnet').actions).toEqual([{ type: 'note', bytes: '000d00000000' }]);
  expect(planVersionFlow('multitenant')).toEqual(parseFlow('table=253,actions=note:01.0d.00.00.00.00'));
});

test.each(['subnet', 'multitenant'] as const)('the note of a bridge is read (%s)', (mode) => {
  expect(readVersion([parseFlow('table=253,actions=drop'), planVersionFlow(mode)])).toEqual({
    mode,
    version: RULE_VERSION,
  });
});

test.each([
  ['of OpenShift alone', 'table=253,actions=note:02.0d', { mode: 'networkpolicy', version: 13 }],
  ['of an older version', 'table=253,actions=note:00.09.00.00.00.00', { mode: 'subnet', version: 9 }],
  ['with an unknown mode', 'table=253,actions=note:03.0d', undefined],
  ['of another program', 'table=253,actions=note:01.0d.00.00.01', undefined],
  ['in another table', 'table=252,actions=note:01.0d', undefined],
])('a note %s is read as what it is', (_, text, version) => {
  expect(readVersion([parseFlow(text)])).toEqual(version);
});

test('the gateway is the first address of the subnet, and the MAC address of a pod follows from its address', () => {
  expect(gatewayOf('10.129.254.0/23')).toBe('10.129.254.1');
  expect(podMac('10.128.2.200')).toBe('0a:58:0a:80:02:c8');
});

test('every table has a purpose that can be shown', () => {
  for (const number of Object.values(tables)) expect(describeTable(number)).toMatch(/^[a-zA-Z].*[^.]$/);
  expect(describeTable(21)).toBeUndefined();
});

describe('refuses', () => {
  const pod = podOf(1, 0, 42);

  test.each([
    [
      'an IPv6 subnet',
      { subnet: 'fd00::/64' },
      'subnet of the node: fd00::/64 is IPv6, and the model sdn has IPv4 alone',
    ],
    [
      'an IPv6 cluster network',
      { clusterNetworks: ['10.0.0.0/8', 'fd00::/48'] },
      'cluster network: fd00::/48 is IPv6',
    ],
    ['an IPv6 service network', { serviceNetwork: 'fd01::/112' }, 'service network: fd01::/112 is IPv6'],
    ['an IPv6 node', { address: '2001:db8::1' }, 'address of the node: 2001:db8::1 is IPv6'],
    [
      'a subnet with bits beyond its length',
      { subnet: '10.128.2.1/23' },
      '10.128.2.1/23 has bits set beyond its length',
    ],
    [
      'one MAC address for node and gateway',
      { migration: { nodeMac: '02:00:00:00:00:01', gatewayMac: '02:00:00:00:00:01' } },
      'node and gateway have one MAC address: 02:00:00:00:00:01',
    ],
    ['a text for an address', { address: 'node-1' }, 'address of the node: '],
  ])('%s', (_, change, message) => {
    expect(() => planBridgeFlows({ ...node, ...change })).toThrow(
      expect.objectContaining({
        code: 'OBJECT_INVALID',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  test.each([
    ['an IPv6 pod', { ip: 'fd00::2' }, 'address of a pod: fd00::2 is IPv6'],
    ['a port that the switch could not make', { port: -1 }, 'pod 10.128.2.2: -1 is no port of a pod'],
    ['the port of the node itself', { port: 2 }, 'pod 10.128.2.2: 2 is no port of a pod'],
    ['a reserved port', { port: 0xff00 }, 'is no port of a pod'],
    ['a VNID of 25 bits', { vnid: 0x1000000 }, 'pod 10.128.2.2: VNID 16777216 is not between 0 and 16777215'],
    ['half a VNID', { vnid: 1.5 }, 'VNID 1.5'],
  ])('%s', (_, change, message) => {
    expect(() => planPodFlows(node, { ...pod, ...change })).toThrow(message);
  });

  test.each([
    ['a peer with an IPv6 address', { address: '2001:db8::2' }, 'address of a node: 2001:db8::2 is IPv6'],
    ['a peer with an IPv6 subnet', { subnet: 'fd00::/64' }, 'subnet of node 192.0.2.2: fd00::/64 is IPv6'],
    ['a peer with a fixed VNID that is none', { fixedVnid: -1 }, 'node 192.0.2.2: VNID -1'],
  ])('%s', (_, change, message) => {
    expect(() => planPeerFlows({ ...peerOf(2), ...change })).toThrow(message);
    expect(() => planMulticastToPeers([{ ...peerOf(2), ...change }])).toThrow(message);
  });

  test('projects without a VNID', () => {
    expect(() => planProjectFlows('multitenant', -1)).toThrow('project: VNID -1');
    expect(() => planMulticastFlows(2 ** 24, [])).toThrow('project: VNID 16777216');
  });
});
