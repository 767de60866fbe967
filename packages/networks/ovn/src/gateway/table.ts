/** The packet filter of a gateway. Its text depends on the node alone. */
import { type Family, familyOf } from '@podwire/addresses';
import type { NftTable } from '@podwire/backend-linux/resources';
import { NODE_LINK } from '../names.js';
import type { GatewayNode } from './facts.js';
import {
  declarations,
  families,
  gatewayTable,
  natPods,
  natSubnets,
  services,
  sources,
  subnets,
} from './sets.js';

/** kube-proxy's and Kube-OVN's bit of the mark for packets that are to be masqueraded. */
const MASQUERADE = 0x4000;

const MASQUERADE_BIT = `0x${MASQUERADE.toString(16)}`;
const setMark = `meta mark set meta mark | ${MASQUERADE_BIT}`;
const clearMark = `meta mark set meta mark & 0x${(~MASQUERADE >>> 0).toString(16)}`;

const ip = (family: Family): string => (family === 4 ? 'ip' : 'ip6');

const from = (set: (family: Family) => string, family: Family): string =>
  `${ip(family)} saddr @${set(family)}`;
const to = (set: (family: Family) => string, family: Family): string => `${ip(family)} daddr @${set(family)}`;

const forEachFamily = (line: (family: Family) => string): string =>
  families.map((family) => `\t${line(family)}\n`).join('');

/*
 * Before kube-proxy (-100) has translated the destination: the answer of a pod elsewhere would go straight to the
 * one that asked, past the node that has translated it.
 */
const markServices = `\
chain mark_services {
	type filter hook prerouting priority mangle; policy accept;
${forEachFamily(
  (family) => `iifname "${NODE_LINK}" ${from(subnets, family)} ${to(services, family)} ${setMark}`,
)}}`;

/*
 * A packet that goes into a tunnel (Geneve, VXLAN) leaves its mark to the one around it. Masqueraded as well, that
 * would have wrong checksums: the kernel leaves those of tunnels to the network card.
 */
const clearEncapsulated = `\
chain clear_encapsulated {
	type filter hook output priority mangle; policy accept;
	udp dport { 6081, 4789 } ${clearMark}
}`;

/* A reset of a connection that the node has forgotten is not translated: it would leave with the pod's address. */
const dropForgottenResets = `\
chain drop_forgotten_resets {
	type filter hook forward priority filter; policy accept;
${forEachFamily((family) => `${from(subnets, family)} tcp flags & rst == rst ct state invalid drop`)}}`;

/* Headers of IP and TCP without options, in bytes. */
const headers = { 4: 40, 6: 60 } as const;

const isSyn = 'tcp flags & (syn | rst) == syn';
const setSize = (size: number): string => `tcp option maxseg size set ${size}`;

/* The kernel makes a size smaller, never larger. */
const clampSegments = ({ tunnel }: GatewayNode): string[] =>
  tunnel === undefined
    ? []
    : [
        `\
chain clamp_segments {
	type filter hook postrouting priority mangle; policy accept;
${forEachFamily(
  (family) =>
    `oifname "${tunnel.link}" meta nfproto ipv${family} ${isSyn} ${setSize(tunnel.mtu - headers[family])}`,
)}}`,
      ];

/* With virtual servers a node has the addresses of services, and may send to pods from one of them. */
const translateServices = ({ addresses }: GatewayNode): string =>
  addresses
    .map((address) => ({ address, family: familyOf(address) }))
    .map(
      ({ address, family }) =>
        `\t${from(services, family)} ${to(subnets, family)} snat ${ip(family)} to ${address}\n`,
    )
    .join('');

const fromSubnetToSubnet = forEachFamily(
  (family) => `ct status dnat ${from(subnets, family)} ${to(subnets, family)} goto masquerade_as_node`,
);

const outgoing = forEachFamily((family) => {
  const outside = `${ip(family)} daddr != @${subnets(family)}`;
  return [
    `${outside} snat ${ip(family)} to ${ip(family)} saddr map @${sources(family)}`,
    `${from(natSubnets, family)} ${outside} goto masquerade_as_node`,
    `${from(natPods, family)} ${outside} goto masquerade_as_node`,
  ].join('\n\t');
});

/*
 * Before kube-proxy (100), as Kube-OVN's rules are. Only the first packet of a connection comes here. TCP that begins
 * without SYN answers a connection that came by another way, and whose sender knows the pod by its own address.
 */
const postrouting = (node: GatewayNode): string => `\
chain postrouting {
	type nat hook postrouting priority 95; policy accept;
${translateServices(node)}	meta mark & ${MASQUERADE_BIT} != 0 goto masquerade_as_node
${fromSubnetToSubnet}	tcp flags & syn == 0 return
${outgoing}}
chain masquerade_as_node {
	${clearMark}
	masquerade fully-random
}`;

/** Names and order of the rules are those of the table in the README. */
export const planTable = (node: GatewayNode): NftTable => ({
  kind: 'nft-table',
  ...gatewayTable,
  body: [
    ...[declarations, markServices, clearEncapsulated, dropForgottenResets],
    ...clampSegments(node),
    postrouting(node),
  ].join('\n'),
});
