/** Names of OpenShift SDN, by which people and programs find the parts of a node. */

export const BRIDGE = 'br0';
/** The tunnel to all other nodes, port 1. */
export const TUNNEL_LINK = 'vxlan0';
/** The node itself, port 2. */
export const HOST_LINK = 'tun0';
