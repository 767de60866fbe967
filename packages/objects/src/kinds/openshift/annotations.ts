/** Annotations of OpenShift SDN. Those of host subnets have the group of pods: a mistake that became part of the API. */

export const networkAnnotations = {
  /** Of a HostSubnet that belongs to no node: a subnet is wanted for it. */
  assignSubnet: 'pod.network.openshift.io/assign-subnet',
  /** Of a HostSubnet: the VNID of all traffic that is sent there. */
  fixedVnidHost: 'pod.network.openshift.io/fixed-vnid-host',
  /** Of a HostSubnet: the identity of the node that it was made for. */
  nodeUid: 'pod.network.openshift.io/node-uid',
  /** Of a NetNamespace: a change of its VNID that is wanted. */
  changeNetwork: 'pod.network.openshift.io/multitenant.change-network',
  /** Of a NetNamespace. */
  multicastEnabled: 'netnamespace.network.openshift.io/multicast-enabled',
} as const;

export type NetworkChange =
  | { readonly action: 'global' }
  | { readonly action: 'isolate' }
  | { readonly action: 'join'; readonly namespace: string };

/** Reads the value of `changeNetwork`; undefined for what is none. */
export function parseNetworkChange(text: string): NetworkChange | undefined {
  if (text === 'global' || text === 'isolate') return { action: text };
  const [, namespace] = /^join:([^:]+)$/.exec(text) ?? [];
  return namespace === undefined ? undefined : { action: 'join', namespace };
}
