/** Labels that things have without anyone having written them. */
import type { HostEndpointFact, Labels, NetworkSetFact, PodFact } from '../model/facts.js';
import type { Profile } from '../model/policy.js';

export const metadataName = 'kubernetes.io/metadata.name';
export const serviceAccountLabel = 'projectcalico.org/serviceaccount';
const namespaceLabel = 'projectcalico.org/namespace';

type Profiles = ReadonlyMap<string, Profile>;

export const labelsOfNamespace = (name: string, written: Labels = {}): Labels => ({
  ...written,
  [metadataName]: name,
});

/** Profiles that Calico gives a pod for its namespace and its service account; only some of them exist. */
export const profileNamesOf = ({ namespace, serviceAccount }: PodFact): readonly string[] =>
  serviceAccount === undefined
    ? [`kns.${namespace}`]
    : [`kns.${namespace}`, `ksa.${namespace}.${serviceAccount}`];

/** Labels that profiles lend, the pod's own, and those that Calico adds: the later counts. */
export function labelsOfPod(pod: PodFact, profiles: Profiles): Labels {
  const account = pod.serviceAccount === undefined ? {} : { [serviceAccountLabel]: pod.serviceAccount };
  return {
    ...lent(profileNamesOf(pod), profiles),
    ...pod.labels,
    [namespaceLabel]: pod.namespace,
    'projectcalico.org/orchestrator': 'k8s',
    ...account,
  };
}

export const labelsOfHost = (host: HostEndpointFact, profiles: Profiles): Labels => ({
  ...lent(host.profiles, profiles),
  ...host.labels,
});

export const labelsOfNetworkSet = ({ labels, namespace }: NetworkSetFact): Labels =>
  namespace === undefined ? labels : { ...labels, [namespaceLabel]: namespace };

const lent = (names: readonly string[], profiles: Profiles): Labels =>
  Object.assign({}, ...names.map((name) => profiles.get(name)?.labelsToApply ?? {})) as Labels;
