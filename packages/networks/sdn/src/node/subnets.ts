/** The subnet of a node, from its HostSubnet. */
import type { NodeSubnets } from '@podwire/network-contract';
import { containsPrefix, parsePrefix } from '@podwire/addresses';
import { ENCAPSULATION } from '../names.js';
import { optionsOf } from '../options.js';

/** A HostSubnet of OpenShift, as far as plans read it. */
export interface HostSubnetFact {
  /** ADDRESS/LENGTH */
  readonly subnet: string;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** By the name of the node; undefined while it has none. */
    'host-subnet': HostSubnetFact | undefined;
  }
}

/** A HostSubnet outside of the network's ranges is that of another network, or of a ClusterNetwork that was changed. */
export const subnets: NodeSubnets = {
  fact: 'host-subnet',
  pools: (network) =>
    optionsOf(network).clusterNetworks.map((cidr) => ({ name: cidr, cidr, encapsulation: ENCAPSULATION })),
  of(fact, network) {
    if (fact === undefined) return [];
    const { subnet } = fact as HostSubnetFact;
    return isInNetwork(subnet, optionsOf(network).clusterNetworks) ? [subnet] : [];
  },
};

export const isInNetwork = (subnet: string, clusterNetworks: readonly string[]): boolean =>
  clusterNetworks.some((cidr) => containsPrefix(parsePrefix(cidr), parsePrefix(subnet)));
