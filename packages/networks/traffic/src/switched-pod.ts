/** Both ends of a veth pair whose host side is a port of Open vSwitch. */
import type { LinkFeature } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';

/**
 * The switch alone speaks to the pod. On the datapath `netdev` the node's kernel gets the packets of the pod as well, and the
 * route to the pod is not through this link: with `rp_filter` the kernel answers no ARP here, and the packet filter
 * drops the rest as spoofed.
 */
export function planSwitchedLink(link: string): Resource[] {
  const set = (key: string): Resource => ({ kind: 'sysctl', in: 'host', key, value: '1', optional: true });
  return [
    { kind: 'link-local-mode', in: 'host', link, mode: 'manual' },
    set(`net/ipv4/conf/${link}/rp_filter`),
    set(`net/ipv6/conf/${link}/disable_ipv6`),
    { kind: 'link-up', in: 'host', link },
  ];
}

/**
 * On the datapath `netdev` the switch reads packets from the link as they are, and a pod that is to get one drops it where the
 * checksum is not complete: ping works and TCP does not. The kernel's datapath completes it where a packet leaves the node.
 * @param link the pod's
 */
export const planChecksums = (link: string, datapath: 'system' | 'netdev'): LinkFeature[] =>
  datapath === 'netdev'
    ? [{ kind: 'link-feature', in: 'pod', link, feature: 'tx-checksumming', on: false }]
    : [];

/** A new namespace copies the IPv4 settings of the machine's first one, which forwards; what the pod makes of it later stays. */
export const forwardingOff: Resource = {
  ...{ kind: 'sysctl', in: 'pod', key: 'net/ipv4/ip_forward', value: '0', initial: true },
};
