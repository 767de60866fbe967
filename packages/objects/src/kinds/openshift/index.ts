import type { KindDefinition } from '../../contract.js';
import { eraseKind } from '../define-kind.js';
import { clusterNetworkKind } from './cluster-network.js';
import { hostSubnetKind } from './host-subnet.js';
import { netNamespaceKind } from './net-namespace.js';

export const openshiftKinds: readonly KindDefinition[] = [
  eraseKind(clusterNetworkKind),
  eraseKind(hostSubnetKind),
  eraseKind(netNamespaceKind),
];
