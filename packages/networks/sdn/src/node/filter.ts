import type { NftTable } from '@podwire/backend-linux/resources';
import type { SdnNode } from '../types.js';

/**
 * The part of OpenShift's iptables rules that is the model's own. VXLAN is not tracked: an entry for each pair of nodes and
 * source port would say nothing. Packets of pods that belong to no connection would leave with the address of the pod,
 * since masquerading takes place for connections. Masquerading itself and host ports are in the table of all models.
 */
export const planFilter = ({ clusterNetworks, vxlanPort }: SdnNode): NftTable => ({
  ...{ kind: 'nft-table', family: 'inet', name: 'podwire_sdn' },
  body: `\
chain prerouting {
	type filter hook prerouting priority raw; policy accept;
	udp dport ${vxlanPort} fib daddr type local notrack
}
chain output {
	type filter hook output priority raw; policy accept;
	udp dport ${vxlanPort} notrack
}
chain forward {
	type filter hook forward priority filter; policy accept;
	ip saddr { ${clusterNetworks.join(', ')} } ct state invalid drop
}`,
});
