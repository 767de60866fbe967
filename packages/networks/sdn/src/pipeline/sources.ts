/** Tables 0 to 25: where packets come from. Each port has its own way, and what fits none of them is dropped. */
import type { Action, Flow } from '@podwire/openflow';
import { gatewayOf } from '../addresses.js';
import { HOST_PORT, TUNNEL_PORT } from '../ports.js';
import type { SdnNode } from '../types.js';
import { markProxied, trackConnection } from './connections.js';
import { arp, doThen, drop, flow, goTo, ip, MULTICAST, takeVnid } from './flows.js';
import { tables } from './tables.js';

/** Takes packets from pods of other nodes, and those for pods from any address: nodes forward for clients. */
function planFromTunnel(node: SdnNode): Flow[] {
  const { clusterNetworks, subnet } = node;
  const port = { in_port: TUNNEL_PORT };
  const known = doThen([takeVnid], 'fromPeer');
  return [
    ...clusterNetworks.flatMap((network) => [
      flow('dispatch', 200, { ...port, ...arp({ arp_spa: network, arp_tpa: subnet }) }, known),
      flow('dispatch', 200, { ...port, ...ip({ ip_src: network }) }, known),
      flow('dispatch', 200, { ...port, ...ip({ ip_dst: network }) }, known),
    ]),
    flow('dispatch', 150, port, drop),
    ...planMigration(node),
    flow('fromPeer', 0, {}, drop),
  ];
}

/** Gives packets of nodes with OVN-Kubernetes the MAC address of their receiver, and looks their node up then. */
function planMigration({ migration, subnet }: SdnNode): Flow[] {
  if (migration === undefined) return [];
  const { nodeMac, gatewayMac } = migration;
  const again: Action = { type: 'resubmit', table: tables.fromPeer };
  return [
    flow('fromPeer', 210, ip({ eth_dst: nodeMac, ip_dst: gatewayOf(subnet) }), {
      actions: [{ type: 'set_field', field: 'eth_dst', value: gatewayMac }, again],
    }),
    flow('fromPeer', 200, ip({ eth_dst: nodeMac, ip_dst: subnet }), { actions: [...setPodMac, again] }),
  ];
}

/** As `podMac` does it. */
const setPodMac: readonly Action[] = [
  { type: 'move', from: { field: 'ip_dst' }, to: { field: 'eth_dst', start: 0, bits: 32 } },
  { type: 'load', value: 0x0a58, to: { field: 'eth_dst', start: 32, bits: 16 } },
];

/**
 * Takes packets of the node itself, what it forwards from outside, and what comes back from its service proxy: that
 * has the address of a pod, and counts as sent by this pod.
 */
function planFromHost({ clusterNetworks, subnet, datapath }: SdnNode): Flow[] {
  const port = { in_port: HOST_PORT };
  const gateway = gatewayOf(subnet);
  return [
    flow('dispatch', 400, { ...port, ...ip({ ip_src: gateway }) }, goTo('commit')),
    ...clusterNetworks.flatMap((network) => [
      flow(
        'dispatch',
        300,
        { ...port, ...ip({ ip_src: subnet, ip_dst: network }) },
        doThen(markProxied(datapath), 'fromProxy'),
      ),
      flow('dispatch', 200, { ...port, ...arp({ arp_spa: gateway, arp_tpa: network }) }, goTo('commit')),
    ]),
    flow('dispatch', 250, { ...port, ...ip({ ip_dst: MULTICAST }) }, drop),
    flow('dispatch', 200, { ...port, ...ip() }, goTo('commit')),
    flow('dispatch', 150, port, drop),
    flow('fromProxy', 0, {}, drop),
  ];
}

/** Every other port is that of a pod. A pod cannot make tunnel packets that nodes would take for those of a peer. */
const planFromPods = ({ vxlanPort }: SdnNode): Flow[] => [
  flow('dispatch', 100, arp(), goTo('fromPod')),
  flow('dispatch', 100, ip(), goTo('fromPod')),
  flow('fromPod', 300, ip({ ip_proto: 17, udp_dst: vxlanPort }), drop),
  flow('fromPod', 0, {}, drop),
];

export const planSources = (node: SdnNode): Flow[] => [
  flow('dispatch', 1000, ip({ ct_state: '-trk' }), { actions: [trackConnection] }),
  ...planFromTunnel(node),
  ...planFromHost(node),
  ...planFromPods(node),
  flow('dispatch', 0, {}, drop),
];
