/** Packet filter rules of a node for tunnels: text of chains and sets. */
import type { Family } from '@podwire/addresses';
import type { NodeView } from '@podwire/network-contract';
import { poolsSet } from './pools.js';
import { needsTunnel, tunnel, tunnelFamily, tunnelPeersSet } from './tunnel.js';

export interface TunnelRules {
  /** Sets and chains. */
  readonly declarations: string;
  /** In the chain `guard` (prerouting, raw), behind what pods must not send. */
  readonly guard: string;
  /** In the chain `from_pod`. */
  readonly fromPod: string;
  /** In the chain `postrouting` (nat). */
  readonly postrouting: string;
}

const none: TunnelRules = { declarations: '', guard: '', fromPod: '', postrouting: '' };

/*
 * A packet of a tunnel of ours: the VXLAN identifier stands in bits 32 to 55 behind the UDP header. Others on the same port (a
 * container engine's overlay network, say) are none of our business. Fragments are put together before: our nat chains
 * switch connection tracking on, and it sees packets earlier (-400) than the hook at -300.
 */
const ours = `udp dport ${tunnel.port} @th,96,24 ${tunnel.id}`;

/**
 * - `tunnel_in`: only known peers put packets into the cluster. Neither these nor ours to peers are tracked: an entry
 *   for each pair of nodes and source port would say nothing, and a full table would cut the tunnels.
 * - `from_pod`: what a pod sends to another node gets this node's address on the way out (masquerading), and would be taken
 *   there for a packet of ours, with whatever source is inside.
 * - `postrouting`: a program of the node that is bound to an address of the node's uplink, or whose destination was translated after
 *   its source was chosen (a service's address), would be answered past the tunnel, and refused by strict rp_filter before that.
 */
export function tunnelRules(networks: readonly NodeView[]): TunnelRules {
  const family = familyOfTunnels(networks);
  if (family === undefined) return none;
  const [ip, type, known] = [family === 4 ? 'ip' : 'ip6', `ipv${family}_addr`, `@${tunnelPeersSet(family)}`];
  return {
    declarations: `\
set ${tunnelPeersSet(family)} { type ${type}; }
chain tunnel_in {
	${ip} saddr ${known} notrack accept
	drop
}
chain tunnel_out {
	type filter hook output priority raw; policy accept;
	${ours} ${ip} daddr ${known} notrack
}
`,
    guard: `\t${ours} fib daddr type local jump tunnel_in\n`,
    fromPod: ([4, 6] as const).map(refuseFromPod).join(''),
    postrouting: `\toifname "${tunnel.link}" fib saddr type local fib saddr . oif type != local masquerade\n`,
  };
}

function familyOfTunnels(networks: readonly NodeView[]): Family | undefined {
  const underlay = networks.find(needsTunnel)?.underlay;
  return underlay === undefined ? undefined : tunnelFamily(underlay);
}

function refuseFromPod(family: Family): string {
  return `\tmeta nfproto ipv${family} ${ours} ${family === 4 ? 'ip' : 'ip6'} daddr != @${poolsSet(family)} drop\n`;
}
