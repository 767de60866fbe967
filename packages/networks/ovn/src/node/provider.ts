/** Networks outside of the cluster on this node: a bridge of each, with the interface that leads there. */
import { portReadyKey } from '@podwire/backend-ovsdb/keys';
import type { Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { HostLinkFact, ModelScopes, NodeView } from '@podwire/network-contract';
import { providerBridge } from '@podwire/objects/kube-ovn-names';
import type { Read } from '@podwire/planner';
import { optionsOf } from '../options.js';
import { interfaceOf, readClaims, viewOf } from './provider-claims.js';

/** By which Kube-OVN finds what is its own in the switch. */
const externalIds = { vendor: 'kube-ovn' } as const;
/** Which bridge leads to which network (ovn-controller(8)). */
const MAPPINGS = 'ovn-bridge-mappings';

const kind = 'ovn-provider';

export const providerScope = (network: string): `${string}/${string}` => `${kind}/${network}`;

/** A node that is excluded has none, so that what the interface had goes back to it. So it is where another network has that. */
export const providerScopes: ModelScopes = {
  kind,
  list: (read) => readClaims(read).flatMap(({ network, holder }) => (network === holder ? [network] : [])),
  plan(name, read) {
    const [view, network] = [viewOf(read), read(`ovn-provider-network/${name}`)];
    if (view === undefined || network === undefined) return undefined;
    const nic = interfaceOf(network, view.name);
    return planProvider({ name, nic, link: requireLink(name, nic, read), view });
  },
};

/** Nothing is planned anew without the interface: what there is stays, also while it is gone for a moment. */
function requireLink(network: string, nic: string, read: Read): HostLinkFact {
  const link = read(`host-link/${nic}`);
  if (link !== undefined) return link;
  const message = `provider network ${network}: this node has no interface ${nic}`;
  throw new PodwireError('PLAN_FAILED', message);
}

interface Provider {
  readonly name: string;
  readonly nic: string;
  readonly link: HostLinkFact;
  readonly view: NodeView;
}

/** The bridge has the MAC address of the interface, which the machines outside know. Its MTU is that of its ports. */
function planProvider({ name, nic, link: { mac }, view }: Provider): Resource[] {
  const bridge = providerBridge(name);
  const isNetdev = optionsOf(view.network).datapath === 'netdev';
  const datapathType = isNetdev ? { datapathType: 'netdev' } : {};
  return [
    { kind: 'ovs-bridge', name: bridge, ...datapathType, otherConfig: { hwaddr: mac }, externalIds },
    { kind: 'ovs-port-ready', port: bridge, isLink: true },
    ...planIpv6(bridge, view),
    { kind: 'link-up', in: 'host', link: nic },
    { kind: 'link-up', in: 'host', link: bridge },
    { kind: 'ovs-port', name: nic, bridge, interfaces: [{ name: nic, externalIds }], externalIds },
    { kind: 'ovs-port-ready', port: nic },
    { kind: 'uplink-moved', in: 'host', from: nic, to: bridge, after: [portReadyKey(nic)] },
    { kind: 'ovs-setting-entry', key: MAPPINGS, name, value: bridge },
    ...(isNetdev ? [planSilence(name, nic)] : []),
  ];
}

/**
 * A switch in user space reads packets beside the kernel, which takes those for the node twice then, from the interface and from the
 * bridge, and answers twice. The switch reads before the packet filter drops anything.
 */
const planSilence = (network: string, nic: string): Resource => ({
  ...{ kind: 'nft-table', family: 'inet', name: `podwire_provider_${network}` },
  body: `
chain prerouting {
	type filter hook prerouting priority raw; policy accept;
	iifname "${nic}" drop
}`,
});

/** Nodes may disable IPv6 for links to come (`default/disable_ipv6`), and have it on the interface all the same. */
const planIpv6 = (bridge: string, { ipv6 }: Pick<NodeView, 'ipv6'>): Resource[] =>
  ipv6 ? [{ kind: 'sysctl', in: 'host', key: `net/ipv6/conf/${bridge}/disable_ipv6`, value: '0' }] : [];
