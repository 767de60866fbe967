import type { NodeView } from '@podwire/network-contract';
import { optionsOf } from './options.js';

/** Bytes of outer headers and options, as Kube-OVN reckons with them. */
const overhead = { geneve: 100, vxlan: 50 } as const;

/** The MTU of pod links in bytes: a packet of that size fits the uplink inside a tunnel. `node.mtu` outside clusters. */
export const podMtu = ({ network, underlay, mtu }: Pick<NodeView, 'network' | 'underlay' | 'mtu'>): number =>
  underlay === undefined ? mtu : underlay.mtu - overhead[optionsOf(network).encapsulation];
