/** Ports of the bridge that every node has: the tunnel to all peers, and `tun0`, behind which is the node itself. */
export const TUNNEL_PORT = 1;
export const HOST_PORT = 2;
