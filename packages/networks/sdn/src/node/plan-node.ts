import { parsePrefix } from '@podwire/addresses';
import { linkKey, tableKey } from '@podwire/backend-linux/keys';
import type { IpRoute, Sysctl } from '@podwire/backend-linux/resources';
import { portReadyKey } from '@podwire/backend-ovsdb/keys';
import type { OvsInterface } from '@podwire/backend-ovsdb/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { trafficTable } from '@podwire/network-traffic';
import type { Flow } from '@podwire/openflow';
import { gatewayOf } from '../addresses.js';
import { flowResources } from '../flow-resources.js';
import { BRIDGE, HOST_LINK, TUNNEL_LINK } from '../names.js';
import { planBridgeFlows } from '../pipeline/bridge.js';
import { planVersionFlow } from '../pipeline/version.js';
import { HOST_PORT, TUNNEL_PORT } from '../ports.js';
import type { SdnNode } from '../types.js';
import { nodeOf } from '../view.js';
import { planFilter } from './filter.js';

/**
 * The bridge with its fixed ports and flows, and the node's own side of it. Nothing while the node has no subnet.
 * @throws PodwireError CONFIG_INVALID, OBJECT_INVALID for a node or options that flows cannot be planned from
 */
export function planNode(view: NodeView): Resource[] {
  const node = nodeOf(view);
  if (node === undefined) return [];
  return [
    // Before the switch knows its flows it forwards nothing.
    planBridge(node),
    ...planFixedPorts(node, view.mtu),
    // One bundle: the note in table 253 is there when all are.
    ...flowResources([...planBridgeFlows(node), planVersionFlow(node.mode)], sourceOf),
    planFilter(node),
    ...planHostSide(node),
  ];
}

/** Another port that has got the number would be taken for the node, which reaches all pods, or for the tunnel. */
function sourceOf({ match }: Flow): readonly string[] {
  if (match?.in_port === HOST_PORT) return [linkKey('host', HOST_LINK)];
  return match?.in_port === TUNNEL_PORT ? [portReadyKey(TUNNEL_LINK)] : [];
}

const planBridge = ({ datapath }: SdnNode): Resource => ({
  ...{ kind: 'ovs-bridge', name: BRIDGE, failMode: 'secure', protocols: ['OpenFlow13', 'OpenFlow14'] },
  ...(datapath === 'system' ? {} : { datapathType: datapath }),
});

/** @param mtu of pods, in bytes: the node's end must take their packets */
function planFixedPorts({ vxlanPort }: SdnNode, mtu: number): Resource[] {
  const tunnel = { remote_ip: 'flow', key: 'flow', dst_port: String(vxlanPort) };
  return [
    ...planPort({ name: TUNNEL_LINK, type: 'vxlan', ofportRequest: TUNNEL_PORT, options: tunnel }),
    ...planPort({ name: HOST_LINK, type: 'internal', ofportRequest: HOST_PORT, mtuRequest: mtu }),
  ];
}

function planPort(one: OvsInterface & { readonly ofportRequest: number }): Resource[] {
  const { name, type, ofportRequest: number } = one;
  const isLink = type === 'internal' ? { isLink: true } : {};
  return [
    { kind: 'ovs-port', name, bridge: BRIDGE, interfaces: [one] },
    { kind: 'ovs-port-ready', port: name, number, ...isLink },
  ];
}

/** Services go to the node, whose proxy sends them to a pod: back through the link that they came from. */
function planHostSide({ subnet, clusterNetworks, serviceNetwork }: SdnNode): Resource[] {
  const route = (destination: string): IpRoute => ({
    ...{ kind: 'route', in: 'host', destination, link: HOST_LINK, scope: 'link' },
  });
  const { length } = parsePrefix(subnet);
  return [
    ...planForwarding(),
    { kind: 'address', in: 'host', link: HOST_LINK, address: `${gatewayOf(subnet)}/${length}` },
    { kind: 'link-up', in: 'host', link: HOST_LINK },
    ...[...clusterNetworks, serviceNetwork].map(route),
  ];
}

/**
 * A node must not forward before its packet filter stands. Of `send_redirects` that of all links counts as well;
 * other links have their own value, so that they go on as before.
 */
function planForwarding(): Sysctl[] {
  const set = (key: string, value: string): Sysctl => ({ kind: 'sysctl', in: 'host', key, value });
  return [
    { ...set('net/ipv4/ip_forward', '1'), after: [tableKey(trafficTable)] },
    set(`net/ipv4/conf/${HOST_LINK}/forwarding`, '1'),
    set('net/ipv4/conf/all/send_redirects', '0'),
    set(`net/ipv4/conf/${HOST_LINK}/send_redirects`, '0'),
  ];
}
