/** Changes of a cluster, one at a time: pods, labels and policies come, change and go. */
import type { AnyObject } from '@podwire/objects';
import fc from 'fast-check';
import type { Cluster, Namespace, Pod, Service } from '../cluster.js';
import {
  arbitraryNamespaceLabels,
  arbitraryPod,
  arbitraryPodLabels,
  arbitraryPorts,
  type ClusterSize,
  standardSize,
} from './cluster.js';
import { arbitraryObject, type PolicyFamily } from './policies.js';

/** One thing that has changed: what is there under its name now. */
export type ClusterChange =
  | { readonly is: 'object'; readonly object: AnyObject }
  | { readonly is: 'object-gone'; readonly index: number }
  | { readonly is: 'pod'; readonly pod: Pod }
  | { readonly is: 'pod-gone'; readonly index: number }
  | { readonly is: 'relabel'; readonly index: number; readonly labels: Pod['labels'] }
  | { readonly is: 'ports'; readonly index: number; readonly ports: Pod['ports'] }
  | { readonly is: 'namespace'; readonly namespace: Namespace }
  | { readonly is: 'service-gone'; readonly index: number };

export function arbitraryChange(
  cluster: Cluster,
  family: PolicyFamily,
  size: ClusterSize = standardSize,
): fc.Arbitrary<ClusterChange> {
  const index = fc.nat({ max: 30 });
  const { namespaces = [] } = cluster;
  return fc.oneof<fc.MaybeWeightedArbitrary<ClusterChange>[]>(
    {
      weight: 4,
      arbitrary: fc
        .nat({ max: 5 })
        .chain((number) => arbitraryObject(cluster, family, `p${number}`))
        .map((object) => ({ is: 'object', object })),
    },
    { weight: 2, arbitrary: index.map((at) => ({ is: 'object-gone', index: at })) },
    {
      weight: 2,
      arbitrary: fc
        .nat({ max: cluster.pods.length + 1 })
        .chain((number) => arbitraryPod(number, size))
        .map((pod) => ({ is: 'pod', pod })),
    },
    { weight: 2, arbitrary: index.map((at) => ({ is: 'pod-gone', index: at })) },
    {
      weight: 3,
      arbitrary: fc.record({ is: fc.constant('relabel' as const), index, labels: arbitraryPodLabels() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ is: fc.constant('ports' as const), index, ports: arbitraryPorts() }),
    },
    {
      weight: 3,
      arbitrary: fc
        .record({
          name: fc.constantFrom(...namespaces.map(({ name }) => name)),
          labels: arbitraryNamespaceLabels(),
        })
        .map((namespace) => ({ is: 'namespace', namespace })),
    },
    { weight: 1, arbitrary: index.map((at) => ({ is: 'service-gone', index: at })) },
  );
}

/** The cluster after the change. An index counts around; where there is nothing to change, nothing does. */
export function applyChange(cluster: Cluster, change: ClusterChange): Cluster {
  const { objects, pods, namespaces = [], services = [] } = cluster;
  switch (change.is) {
    case 'object':
      return { ...cluster, objects: put(objects, change.object, nameOfObject) };
    case 'object-gone':
      return { ...cluster, objects: removeAt(objects, change.index) };
    case 'pod':
      return { ...cluster, pods: put(pods, change.pod, nameOfPod) };
    case 'pod-gone':
      return { ...cluster, pods: removeAt(pods, change.index) };
    case 'relabel':
      return {
        ...cluster,
        pods: replaceAt(pods, change.index, (pod) => ({ ...pod, labels: change.labels })),
      };
    case 'ports':
      return { ...cluster, pods: replaceAt(pods, change.index, (pod) => ({ ...pod, ports: change.ports })) };
    case 'namespace':
      return { ...cluster, namespaces: put(namespaces, change.namespace, ({ name }) => name) };
    case 'service-gone':
      return { ...cluster, services: removeAt<Service>(services, change.index) };
  }
}

export const nameOfObject = ({ apiVersion, kind, metadata }: AnyObject): string =>
  `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

export const nameOfPod = ({ namespace, name }: Pod): string => `${namespace}/${name}`;

function put<T>(list: readonly T[], item: T, nameOf: (item: T) => string): T[] {
  const at = list.findIndex((each) => nameOf(each) === nameOf(item));
  return at < 0 ? [...list, item] : list.with(at, item);
}

const removeAt = <T>(list: readonly T[], index: number): T[] =>
  list.filter((_, at) => at !== index % list.length);

const replaceAt = <T>(list: readonly T[], index: number, change: (item: T) => T): T[] =>
  list.map((item, at) => (at === index % list.length ? change(item) : item));
