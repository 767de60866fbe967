/** The objects' types, for those who read them. */
export type { CalicoEntity } from './calico/entity.js';
export type { CalicoHostEndpoint } from './calico/host-endpoint.js';
export type { CalicoGlobalNetworkPolicy, CalicoNetworkPolicy } from './calico/network-policies.js';
export type { CalicoGlobalNetworkSet, CalicoNetworkSet } from './calico/network-sets.js';
export type { CalicoProfile } from './calico/profile.js';
export type { CalicoRule } from './calico/rule.js';
export type { CalicoTier } from './calico/tier.js';
export type { EndpointSlice } from './core/endpoint-slice.js';
export type { Namespace } from './core/namespace.js';
export type { Service } from './core/service.js';
export type { IP } from './kube-ovn/ip.js';
export type { ProviderNetwork } from './kube-ovn/provider-network.js';
export type { Subnet } from './kube-ovn/subnet.js';
export type { Vlan } from './kube-ovn/vlan.js';
export type { Vpc } from './kube-ovn/vpc.js';
export type {
  AdminNetworkPolicy,
  BaselineAdminNetworkPolicy,
} from './network-policy-api/admin-network-policy.js';
export type { AdminPort } from './network-policy-api/admin-ports.js';
export type {
  ClusterNetworkPolicy,
  ClusterProtocolMatch,
} from './network-policy-api/cluster-network-policy.js';
export type { EgressPeer, PolicySubject } from './network-policy-api/peers.js';
export type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from './networking/network-policy.js';
export type { ClusterNetwork } from './openshift/cluster-network.js';
export type { HostSubnet } from './openshift/host-subnet.js';
export type { NetNamespace } from './openshift/net-namespace.js';
export type { LabelRequirement, LabelSelector } from './shared/label-selector.js';
