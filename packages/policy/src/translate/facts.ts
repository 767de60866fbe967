/** Objects that say what is there, and not who may talk to whom. */
import type {
  CalicoGlobalNetworkSet,
  CalicoHostEndpoint,
  CalicoNetworkSet,
  Namespace,
} from '@podwire/objects';
import type { HostEndpointFact, NamespaceFact, NetworkSetFact } from '../model/facts.js';
import { impliedLabels, namespaceNameLabel } from '../model/implied-labels.js';

export const translateNamespace = ({ metadata: { name, labels } }: Namespace): NamespaceFact => ({
  name,
  labels: { ...labels, [namespaceNameLabel]: name },
});

/** A set says where it lies, as pods do. */
export function translateNetworkSet(set: CalicoNetworkSet | CalicoGlobalNetworkSet): NetworkSetFact {
  const { name, labels = {} } = set.metadata;
  const { nets } = set.spec;
  if (set.kind === 'GlobalNetworkSet') return { name, labels, nets };
  const { namespace } = set.metadata;
  return { namespace, name, labels: { ...labels, [impliedLabels.namespace]: namespace }, nets };
}

export const translateHostEndpoint = ({ metadata, spec }: CalicoHostEndpoint): HostEndpointFact => ({
  name: metadata.name,
  labels: metadata.labels ?? {},
  node: spec.node,
  ...(spec.interfaceName !== undefined && { interfaceName: spec.interfaceName }),
  expectedIPs: spec.expectedIPs,
  profiles: spec.profiles,
});
