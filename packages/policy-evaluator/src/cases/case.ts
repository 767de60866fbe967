/** Hand-made policy sets, as data: for the compiler, for rendered rules, and for real packets. */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Labels, Pod, PortProtocol } from '../cluster.js';

export interface Probe {
  readonly protocol: PortProtocol;
  readonly port: number;
  readonly family: 4 | 6;
}

/** The whole state after a step: a later step takes the place of the one before. */
export interface CaseStep {
  readonly objects: readonly AnyObject[];
  /** Labels of pods (`namespace/name`) that differ from the cluster's. */
  readonly podLabels?: Readonly<Record<string, Labels>> | undefined;
  /** Labels of namespaces that differ from the cluster's. */
  readonly namespaceLabels?: Readonly<Record<string, Labels>> | undefined;
  /** Worked out by hand, where that is simple: what must come through between two different pods. */
  readonly isAllowed?: ((from: Pod, to: Pod, probe: Probe) => boolean) | undefined;
}

export interface PolicyCase {
  readonly category: string;
  readonly name: string;
  /** Addresses are the cluster's: prefixes in policies are made from them. */
  readonly steps: (cluster: Cluster) => readonly CaseStep[];
}

export type Expectation = NonNullable<CaseStep['isAllowed']>;

/** A case of one step. */
export const singleStep = (
  category: string,
  name: string,
  objects: (cluster: Cluster) => readonly AnyObject[],
  isAllowed?: Expectation,
): PolicyCase => ({
  category,
  name,
  steps: (cluster) => [{ objects: objects(cluster), isAllowed }],
});

/** The cluster as it is after the step. */
export function applyStep(cluster: Cluster, step: CaseStep): Cluster {
  const { podLabels = {}, namespaceLabels = {} } = step;
  return {
    ...cluster,
    objects: [...cluster.objects, ...step.objects],
    pods: cluster.pods.map((pod) => ({
      ...pod,
      labels: podLabels[`${pod.namespace}/${pod.name}`] ?? pod.labels,
    })),
    namespaces: (cluster.namespaces ?? []).map((each) => ({
      ...each,
      labels: namespaceLabels[each.name] ?? each.labels,
    })),
  };
}

/** An object of any kind, as its schema would have read it. */
export const makeObject = (
  apiVersion: string,
  kind: string,
  name: string,
  spec: object,
  namespace?: string,
): AnyObject =>
  ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec,
  }) as AnyObject;

/** `x/web`: a NetworkPolicy of Kubernetes. */
export function networkPolicy(fullName: string, spec: object): AnyObject {
  const [namespace = '', name = ''] = fullName.split('/');
  const policyTypes = defaultTypes(spec);
  return makeObject(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    name,
    { podSelector: {}, policyTypes, ...spec },
    namespace,
  );
}

/** As the API server fills them in. */
const defaultTypes = (spec: { readonly egress?: readonly unknown[] }): string[] =>
  (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];

export const calico = (kind: string, name: string, spec: object, namespace?: string): AnyObject =>
  makeObject('projectcalico.org/v3', kind, name, spec, namespace);

export const clusterPolicy = (name: string, spec: object): AnyObject =>
  makeObject('policy.networking.k8s.io/v1alpha2', 'ClusterNetworkPolicy', name, spec);
