/** All kinds. A new one is defined in a file of its own and stands in this list. */
import type { KindDefinition } from '../contract.js';
import { calicoKinds } from './calico/index.js';
import { endpointSliceKind } from './core/endpoint-slice.js';
import { namespaceKind } from './core/namespace.js';
import { serviceKind } from './core/service.js';
import { eraseKind } from './define-kind.js';
import { kubeOvnKinds } from './kube-ovn/index.js';
import {
  adminNetworkPolicyKind,
  baselineAdminNetworkPolicyKind,
} from './network-policy-api/admin-network-policy.js';
import { clusterNetworkPolicyKind } from './network-policy-api/cluster-network-policy.js';
import { networkPolicyKind } from './networking/network-policy.js';
import { openshiftKinds } from './openshift/index.js';

export const kinds: readonly KindDefinition[] = [
  eraseKind(namespaceKind),
  eraseKind(serviceKind),
  eraseKind(endpointSliceKind),
  eraseKind(networkPolicyKind),
  eraseKind(adminNetworkPolicyKind),
  eraseKind(baselineAdminNetworkPolicyKind),
  eraseKind(clusterNetworkPolicyKind),
  ...calicoKinds,
  ...openshiftKinds,
  ...kubeOvnKinds,
];
