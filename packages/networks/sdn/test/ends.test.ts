import {
  describeDrop,
  describeOutput,
  describeVnid,
  readNodeAddress,
} from '@podwire/network-sdn/description';
import { parseFlow } from '@podwire/openflow';
import { expect, test } from 'vitest';
import { planBridgeFlows } from '@podwire/network-sdn';
import { tables } from '../src/pipeline/tables.js';

const way = {
  ...{ source: '10.128.2.2', destination: '10.128.2.3', inPort: 3 },
  ...{ senderVnid: 42, receiverVnid: 7 },
};

test.each([
  [{ port: 4, table: tables.ingressRules }, 'delivered to port 4'],
  [{ port: 4, portName: 'veth4', table: tables.ingressRules }, 'delivered to port 4 (veth4)'],
  [
    { port: 1, table: tables.toPeer, tunnelDestination: '192.0.2.2' },
    'sent through the tunnel to node 192.0.2.2, with VNID 42',
  ],
  [{ port: 2, table: tables.toService }, 'sent through tun0 to the service proxy of this node'],
  [{ port: 2, table: tables.nodeDns }, 'sent through tun0 to the DNS server of this node'],
  [{ port: 2, table: tables.egress }, 'sent out of the cluster through tun0'],
  [{ port: 2, table: tables.egressPolicy }, 'sent out of the cluster through tun0'],
  [{ port: 2, table: tables.route }, 'sent through tun0 to this node itself'],
])('explains how a packet has left the bridge: %j', (output, text) => {
  expect(describeOutput({ ...way, ...output })).toBe(text);
});

test.each([
  [tables.fromPeer, 'the tunnel comes from no known node'],
  [tables.fromPod, 'no flow accepts packets from 10.128.2.2 at port 3'],
  [tables.toPod, 'no pod of this node has the address 10.128.2.3'],
  [tables.ingressRules, 'no flow lets VNID 42 reach VNID 7'],
  [tables.toPeer, 'no known node has the address 10.128.2.3 in its subnet'],
  [tables.multicastFromPod, 'the project of VNID 42 has no multicast'],
  [tables.egressRules, undefined],
])('explains for which lack of a flow table %i drops a packet', (table, reason) => {
  expect(describeDrop({ ...way, table })).toBe(reason);
});

const names = {
  projects: (vnid: number) => ({ 42: ['shop'], 7: ['bank', 'teller', 'vault', 'safe'] })[vnid] ?? [],
  node: (address: string) => (address === '192.0.2.2' ? 'n2' : undefined),
  pod: (address: string) => (address === '10.128.2.3' ? 'bank/db' : undefined),
};

test.each([
  [{ port: 4, portName: 'veth4', table: tables.ingressRules }, 'delivered to pod bank/db at port 4 (veth4)'],
  [{ port: 4, nodeName: 'n1', table: tables.ingressRules }, 'delivered to pod bank/db at port 4 of n1'],
  [
    { port: 1, table: tables.toPeer, tunnelDestination: '192.0.2.2' },
    'sent through the tunnel to n2 (192.0.2.2), with VNID 42 (shop)',
  ],
  [
    { port: 1, table: tables.toPeer, tunnelDestination: '192.0.2.9', tunnelId: 5 },
    'sent through the tunnel to node 192.0.2.9, with VNID 5',
  ],
  [{ port: 1, table: tables.toPeer }, 'sent through the tunnel to an unknown node, with VNID 42 (shop)'],
])('says the names of pods, nodes and projects where they are known: %j', (output, text) => {
  expect(describeOutput({ ...way, ...output, names })).toBe(text);
});

test('says the names of both projects where a packet is dropped between them', () => {
  const reason = 'no flow lets VNID 42 (shop) reach VNID 7 (bank, teller and 2 more)';
  expect(describeDrop({ ...way, table: tables.ingressRules, names })).toBe(reason);
  expect(describeVnid(9, names)).toBe('VNID 9');
});

test('reads the address of the node from the flows of its bridge', () => {
  const flows = planBridgeFlows({
    ...{ address: '192.0.2.1', subnet: '10.128.2.0/23', clusterNetworks: ['10.128.0.0/14'] },
    ...{ serviceNetwork: '172.30.0.0/16', vxlanPort: 4789, mode: 'subnet', datapath: 'system' },
  });
  expect(readNodeAddress(flows)).toBe('192.0.2.1');
  expect(readNodeAddress([parseFlow('table=99,priority=0,actions=goto_table:100')])).toBeUndefined();
});
