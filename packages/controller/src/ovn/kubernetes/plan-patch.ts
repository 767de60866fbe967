/** Answers to pods and nodes, as patches of their annotations. Pure. */
import {
  annotationNames,
  type Annotations,
  type Labels,
  readAllocation,
  selectAnswers,
} from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';
import type { KubernetesNode, KubernetesPod } from './contract.js';

export interface AnnotationPatch {
  /** Of the object. */
  readonly path: string;
  /** The server refuses the patch for another object of that name. */
  readonly uid: string;
  /** Those that are other than they shall be. All others stay. */
  readonly annotations: Annotations;
  /** The same; null takes one away. */
  readonly labels?: Readonly<Record<string, string | null>>;
}

/** @param record whose rows are in the logical network */
export function planPodPatch(
  pod: KubernetesPod | undefined,
  record: OvnPodRecord | undefined,
): AnnotationPatch | undefined {
  if (pod?.record === undefined || record?.uid !== pod.record.uid) return undefined;
  if (readAllocation(record.annotations) === undefined) return undefined;
  const answers = { ...selectAnswers(record.annotations), [annotationNames.isRouted]: 'true' };
  const name = encodeURIComponent(record.name);
  return toPatch(`/api/v1/namespaces/${encodeURIComponent(record.namespace)}/pods/${name}`, pod, answers);
}

/** Annotations that a node shall have, and all its labels for provider networks; absent: they stay as they are. */
export interface NodeAnswer {
  readonly annotations?: Annotations | undefined;
  readonly labels?: Labels | undefined;
}

export function planNodePatch(
  node: KubernetesNode | undefined,
  { annotations = {}, labels }: NodeAnswer,
): AnnotationPatch | undefined {
  if (node === undefined) return undefined;
  const path = `/api/v1/nodes/${encodeURIComponent(node.id)}`;
  const other = labels === undefined ? {} : compareLabels(node.labels, labels);
  const patch = toPatch(path, node, annotations);
  if (Object.keys(other).length === 0) return patch;
  return { path, uid: node.uid, annotations: {}, ...patch, labels: other };
}

function compareLabels(present: Labels, wanted: Labels): Record<string, string | null> {
  const gone = Object.keys(present).filter((name) => !Object.hasOwn(wanted, name));
  const other = Object.entries(wanted).filter(([name, value]) => present[name] !== value);
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(other) };
}

function toPatch(
  path: string,
  { uid, annotations: present }: Pick<KubernetesPod, 'uid' | 'annotations'>,
  answers: Annotations,
): AnnotationPatch | undefined {
  const other = Object.entries(answers).filter(([name, value]) => present[name] !== value);
  return other.length === 0 ? undefined : { path, uid, annotations: Object.fromEntries(other) };
}
