/** Names of Kube-OVN, by which people and programs find the parts of a node. */

export const MODEL = 'ovn';
/** The bridge of ovn-controller, which has a port for each pod. */
export const BRIDGE = 'br-int';
/** The node's end of the subnet `join`: packets between pods and everything outside of the logical network pass it. */
export const NODE_LINK = 'ovn0';
/** The mirror of the bridge, and the link of the node that its packets come to. */
export const MIRROR = 'm0';
export const MIRROR_LINK = 'mirror0';
