import type { KindDefinition } from '../../contract.js';
import { eraseKind } from '../define-kind.js';
import { calicoHostEndpointKind } from './host-endpoint.js';
import { calicoGlobalNetworkPolicyKind, calicoNetworkPolicyKind } from './network-policies.js';
import { calicoGlobalNetworkSetKind, calicoNetworkSetKind } from './network-sets.js';
import { calicoProfileKind } from './profile.js';
import { calicoTierKind } from './tier.js';

export const calicoKinds: readonly KindDefinition[] = [
  eraseKind(calicoTierKind),
  eraseKind(calicoNetworkPolicyKind),
  eraseKind(calicoGlobalNetworkPolicyKind),
  eraseKind(calicoNetworkSetKind),
  eraseKind(calicoGlobalNetworkSetKind),
  eraseKind(calicoHostEndpointKind),
  eraseKind(calicoProfileKind),
];
