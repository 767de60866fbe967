/** `nodeSelector` and the required part of `nodeAffinity`: does the pod belong on a node with these labels? */
import type { Pod } from '@podwire/pod-spec';

type Labels = Readonly<Record<string, string>>;

export interface Affine {
  readonly name: string;
  readonly labels: Labels;
}

/** The pod's own words stand as they were written: a scheduler may not have seen them. */
export function fitsNode({ spec }: Pick<Pod, 'spec'>, node: Affine): boolean {
  const selector = mapOf(spec['nodeSelector']);
  if (!Object.entries(selector).every(([key, value]) => labelOf(node.labels, key) === value)) return false;
  const required = mapOf(mapOf(mapOf(spec['affinity'])['nodeAffinity'])[requiredField]);
  if (required['nodeSelectorTerms'] === undefined) return true;
  return listOf(required['nodeSelectorTerms']).some((term) => matchesTerm(mapOf(term), node));
}

const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution';

/** A term without any condition matches nothing (Kubernetes API, NodeSelectorTerm). */
function matchesTerm(term: Readonly<Record<string, unknown>>, { name, labels }: Affine): boolean {
  const byLabel = listOf(term['matchExpressions']);
  const byField = listOf(term['matchFields']);
  if (byLabel.length + byField.length === 0) return false;
  return (
    byLabel.every((each) => matches(mapOf(each), labels)) &&
    byField.every((each) => matches(mapOf(each), { 'metadata.name': name }))
  );
}

function matches({ key, operator, values }: Readonly<Record<string, unknown>>, labels: Labels): boolean {
  const found = labelOf(labels, String(key));
  const wanted = listOf(values);
  switch (operator) {
    case 'In':
      return found !== undefined && wanted.includes(found);
    case 'NotIn':
      return found === undefined || !wanted.includes(found);
    case 'Exists':
      return found !== undefined;
    case 'DoesNotExist':
      return found === undefined;
    case 'Gt':
      return compare(found, wanted[0], (one, other) => one > other);
    case 'Lt':
      return compare(found, wanted[0], (one, other) => one < other);
    default:
      return false;
  }
}

function compare(
  found: string | undefined,
  wanted: unknown,
  holds: (found: bigint, wanted: bigint) => boolean,
): boolean {
  const isNumber = (text: unknown): text is string => typeof text === 'string' && /^-?\d{1,18}$/.test(text);
  return isNumber(found) && isNumber(wanted) && holds(BigInt(found), BigInt(wanted));
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
