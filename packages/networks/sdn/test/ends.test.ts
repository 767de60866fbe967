import { describeDrop, describeOutput } from '@podwire/network-sdn/description';
import { expect, test } from 'vitest';
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
