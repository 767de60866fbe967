import type { NftElement, NftTable } from '@podwire/backend-linux/resources';
import type { NodeView, PoolView } from '@podwire/network-contract';
import { forwardGuard } from './forward-guard.js';
import { podLinkPrefix } from './link-names.js';
import { natPoolsSet, planPools, poolSets, poolsSet } from './pools.js';
import { sourceSets, spoofingRules } from './sources.js';
import { trafficTable } from './traffic-table.js';
import { type TunnelRules, tunnelRules } from './tunnel-rules.js';

const pods = `"${podLinkPrefix}*"`;

const sets = `\
${poolSets}
map hostports4 { type inet_proto . inet_service : ipv4_addr . inet_service; }
map hostports6 { type inet_proto . inet_service : ipv6_addr . inet_service; }
map hostipports4 { type ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service; }
map hostipports6 { type ipv6_addr . inet_proto . inet_service : ipv6_addr . inet_service; }
set hairpins4 { type ipv4_addr . ipv4_addr; }
set hairpins6 { type ipv6_addr . ipv6_addr; }
${sourceSets}`;

/*
 * 127.0.0.0/8 exists inside a machine only (RFC 1122 §3.2.1.3). The kernel drops it elsewhere, except on interfaces with
 * route_localnet, which pods with host ports need, and before it does, a packet for 127.0.0.1 from outside could be
 * translated by a host port that is bound to 127.0.0.1 (CVE-2020-8558 and its kin).
 *
 * From pods: router advertisements and redirects could change the node's routes (CVE-2020-10749), whatever accept_ra is. Solicitations
 * of routers have no answer here, and leave a neighbour behind on a node that forwards.
 * A source that the node would not route back through the very same interface is spoofed; an interface that no
 * plan has has no route, so everything from it is. Pods' own addresses are in a set, which costs less. The fib expression lets neighbour discovery from `::` pass by itself, and every
 * link-local source: the node would remember each as a neighbour, in tables that the whole machine shares, so a link gets a few of
 * them a minute. What leaves no neighbour behind is spared, since the node waits for it.
 * DHCP may come from 0.0.0.0 and :: for the same reason: a server of the node would serve pods.
 * Every packet of the node passes here, so what fails soonest and costs least stands first in each rule.
 */
const guard = (tunnels: TunnelRules): string => `\
set link_local_from_pods { type ifname; flags dynamic,timeout; size 65535; timeout 1m; }
chain guard {
	type filter hook prerouting priority raw; policy accept;
	ip saddr 127.0.0.0/8 iifname != "lo" drop
	ip daddr 127.0.0.0/8 iifname != "lo" drop
	iifname ${pods} jump from_pod
${tunnels.guard}}
chain from_pod {
	icmp type redirect drop
	icmpv6 type { nd-router-solicit, nd-router-advert, nd-redirect } drop
	ip6 saddr fe80::/10 jump link_local_from_pod
${spoofingRules}	udp dport { 67, 547 } fib daddr type { local, broadcast, multicast } drop
${tunnels.fromPod}}
chain link_local_from_pod {
	icmpv6 type { nd-neighbor-advert, mld-listener-report, mld-listener-done, mld2-listener-report } return
	update @link_local_from_pods { iifname limit rate over 1/second burst 8 packets } drop
}`;

/* A lookup that finds nothing goes on with the next rule. nft 1.0.6 has no name for -100 on the output hook. */
const hostPorts = `\
chain hostports {
	meta nfproto ipv4 dnat ip to ip daddr . meta l4proto . th dport map @hostipports4
	meta nfproto ipv6 dnat ip6 to ip6 daddr . meta l4proto . th dport map @hostipports6
	meta nfproto ipv4 dnat ip to meta l4proto . th dport map @hostports4
	meta nfproto ipv6 dnat ip6 to meta l4proto . th dport map @hostports6
}
chain prerouting {
	type nat hook prerouting priority dstnat; policy accept;
	meta l4proto { tcp, udp, sctp } fib daddr type local jump hostports
}
chain output {
	type nat hook output priority -100; policy accept;
	meta l4proto { tcp, udp, sctp } fib daddr type local jump hostports
}`;

/*
 * Behind kube-proxy's masquerading (100). A pod that reaches itself through its host port would answer itself directly,
 * and an answer to a loopback address would never leave the pod: both have to see the node as the client.
 */
const masqueradeHostPorts = (tunnels: TunnelRules): string => `\
chain postrouting {
	type nat hook postrouting priority 110; policy accept;
	ct status dnat jump masquerade_hostports
${tunnels.postrouting}	jump masquerade_outgoing
}
chain masquerade_hostports {
	ip saddr 127.0.0.0/8 masquerade
	ip6 saddr ::1 masquerade
	ip saddr . ip daddr @hairpins4 masquerade
	ip6 saddr . ip6 daddr @hairpins6 masquerade
}`;

/*
 * Packets that leave the pools get the node's address; packets within them, also other networks' pools, keep their
 * source, and so does multicast, which no pool holds. Random ports, since two pods that race for the node's same source
 * port would lose one of the packets (kubernetes#56903).
 */
const masqueradeOutgoing = `\
chain masquerade_outgoing {
	ip saddr @${natPoolsSet(4)} ip daddr != @${poolsSet(4)} ip daddr != 224.0.0.0/4 masquerade fully-random
	ip6 saddr @${natPoolsSet(6)} ip6 daddr != @${poolsSet(6)} ip6 daddr != ff00::/8 masquerade fully-random
}`;

/**
 * The packet filter of a node: spoofing protection, tunnels, host ports, masquerading, and no forwarding for others. The table
 * depends on the node alone, so its digest stays the same; pools, pods and peers are elements of its sets.
 * @param networks one view for each network of this node, with all pools, also those that hand nothing out any more
 * @param elsewhere pools of the cluster that belong to no network of this node
 * @param links of models, through which packets of pods are forwarded
 */
export function planNodeTraffic(
  networks: readonly NodeView[],
  elsewhere: readonly Pick<PoolView, 'cidr'>[] = [],
  links: readonly string[] = [],
): [NftTable, ...NftElement[]] {
  const tunnels = tunnelRules(networks);
  const body = [
    sets,
    ...(tunnels.declarations === '' ? [] : [tunnels.declarations.trimEnd()]),
    guard(tunnels),
    hostPorts,
    masqueradeHostPorts(tunnels),
    `${masqueradeOutgoing}${forwardGuard(networks[0]?.router, links)}`,
  ].join('\n');
  const pools = networks.flatMap((node) => node.network.pools);
  return [{ kind: 'nft-table', ...trafficTable, body }, ...planPools(pools, elsewhere)];
}
