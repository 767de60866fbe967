/** Names of OpenShift SDN, by which people and programs find the parts of a node. */

export const BRIDGE = 'br0';
/** The tunnel to all other nodes, port 1. */
export const TUNNEL_LINK = 'vxlan0';
/** The node itself, port 2. */
export const HOST_LINK = 'tun0';

/** The second link of a pod that has one. Other plugins, or OpenShift by an annotation, put it into the pod. */
export const MACVLAN_LINK = 'macvlan0';

/** Not `vxlan`, which asks for the device that the other models share. */
export const ENCAPSULATION = 'ovs-vxlan';
