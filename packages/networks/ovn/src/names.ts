/** Names of Kube-OVN, by which people and programs find the parts of a node. */

/** The node's end of the subnet `join`: packets between pods and everything outside of the logical network pass it. */
export const NODE_LINK = 'ovn0';
