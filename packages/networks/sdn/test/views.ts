/** Two nodes of a cluster as the contract shows them. */
import type { Endpoint, NodeView, PeerView } from '@podwire/network-contract';
import { createSdnModel, optionsSchema, type SdnOptions } from '@podwire/network-sdn';

export const model = createSdnModel();

const given = { clusterNetworks: ['10.128.0.0/14'], serviceNetwork: '172.30.0.0/16' };
export const subnetOf = (number: number): string => `10.128.${2 * number}.0/23`;

export function viewOf(number: number, options: Partial<SdnOptions> = {}): NodeView {
  const [cidr] = given.clusterNetworks;
  const view = {
    name: `node${number}`,
    network: {
      ...{ name: 'default', model: 'sdn', options: optionsSchema.parse({ ...given, ...options }) },
      pools: [{ name: 'pods', cidr: cidr!, natOutgoing: true, encapsulation: 'ovs-vxlan' }],
    },
    ...{ blocks: [subnetOf(number)], mtu: 1450, ipv4: true, ipv6: true },
    underlay: { link: 'br-phy', mtu: 1500, ipv4: `192.0.2.${number}/24` },
  };
  return { ...view, mtu: model.podMtu(view) };
}

export const peerOf = (number: number): PeerView => ({
  ...{ name: `node${number}`, ipv4: `192.0.2.${number}/24`, blocks: [subnetOf(number)] },
});

/** Pod `index` of a node, from 0 on. */
export const endpointOf = (
  node: number,
  index: number,
  vnid: number,
  more: Partial<Endpoint> = {},
): Endpoint => ({
  id: { containerId: `c${node}-${index}`, ifName: 'eth0', network: 'default' },
  pod: { namespace: `project${vnid}`, name: `pod${node}-${index}` },
  leases: [{ address: `10.128.${2 * node}.${index + 2}`, pool: 'pods' }],
  ...{ mac: '02:00:00:00:00:01', portMappings: [], attachment: { vnid }, ...more },
});
