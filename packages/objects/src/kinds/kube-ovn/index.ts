import type { KindDefinition } from '../../contract.js';
import { eraseKind } from '../define-kind.js';
import { ipKind } from './ip.js';
import { providerNetworkKind } from './provider-network.js';
import { subnetKind } from './subnet.js';
import { vlanKind } from './vlan.js';
import { vpcKind } from './vpc.js';

/** In the order in which they can be applied: a subnet names its VPC and its VLAN. */
export const kubeOvnKinds: readonly KindDefinition[] = [
  eraseKind(vpcKind),
  eraseKind(providerNetworkKind),
  eraseKind(vlanKind),
  eraseKind(subnetKind),
  eraseKind(ipKind),
];
