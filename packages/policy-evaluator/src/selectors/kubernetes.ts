/** `metav1.LabelSelector`, by the API reference: all of matchLabels and of matchExpressions must hold; an empty one matches all. */
import type { Cluster, Labels, Pod } from '../cluster.js';

export interface LabelSelector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

export function matchesSelector(selector: LabelSelector, labels: Labels): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    if (readLabel(labels, key) !== value) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ?? [])
    if (!holds(operator, values, readLabel(labels, key))) return false;
  return true;
}

function holds(operator: string, values: readonly string[], value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      throw new TypeError(`not an operator of a LabelSelector: ${operator}`);
  }
}

/** Labels may be called `constructor`. */
export const readLabel = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** The API server gives every namespace its name as a label. */
export function labelsOfNamespace(cluster: Cluster, name: string): Labels {
  const known = (cluster.namespaces ?? []).find((each) => each.name === name);
  return { ...known?.labels, 'kubernetes.io/metadata.name': name };
}

export const isPodSelected = (
  cluster: Cluster,
  pod: Pod,
  namespaces: LabelSelector,
  pods: LabelSelector,
): boolean =>
  matchesSelector(namespaces, labelsOfNamespace(cluster, pod.namespace)) && matchesSelector(pods, pod.labels);
