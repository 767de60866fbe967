/** Nodes as plans of OpenShift SDN see them. Pure. */
import { machineLabel, type Node } from '@podwire/cluster-state';
import type { ClusterNode } from '@podwire/cluster-sdn';
import { type HostSubnet, networkAnnotations } from '@podwire/objects';

/**
 * Identity of a node that outlives its reboots, which `instance` does not: its machine. A machine without an id is known by the name
 * of its node alone, so another one under that name goes on with its subnet.
 */
export const uidOf = ({ name, labels }: Pick<Node, 'name' | 'labels'>): string =>
  labels[machineLabel] ?? `name:${name}`;

export const toClusterNode = (node: Pick<Node, 'name' | 'labels' | 'addresses'>): ClusterNode => ({
  name: node.name,
  uid: uidOf(node),
  address: node.addresses.ipv4?.split('/')[0],
});

/**
 * A node whose object cannot be read is there all the same, as its HostSubnet has it.
 * @returns undefined without a HostSubnet that was made for a node: nothing of it can be taken away
 */
export function readFromHostSubnet(hostSubnet: HostSubnet | undefined): ClusterNode | undefined {
  const uid = hostSubnet?.metadata.annotations?.[networkAnnotations.nodeUid] ?? '';
  if (hostSubnet === undefined || uid === '') return undefined;
  return { name: hostSubnet.host, uid, address: hostSubnet.hostIP };
}
