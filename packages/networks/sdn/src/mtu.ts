import type { NodeView } from '@podwire/network-contract';
import { tunnelOverhead } from '@podwire/network-traffic';

/**
 * The MTU of pod links and of `tun0`, in bytes: a packet of that size fits the uplink inside a tunnel. `node.mtu` outside
 * clusters, where there are no tunnels.
 */
export const podMtu = ({ underlay, mtu }: Pick<NodeView, 'underlay' | 'mtu'>): number =>
  underlay === undefined ? mtu : underlay.mtu - tunnelOverhead[4];
