/** Answers to pods and nodes, as patches of their annotations. Pure. */
import { annotationNames, type Annotations, readAllocation, selectAnswers } from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';
import type { KubernetesNode, KubernetesPod } from './contract.js';

export interface AnnotationPatch {
  /** Of the object. */
  readonly path: string;
  /** The server refuses the patch for another object of that name. */
  readonly uid: string;
  /** Those that are other than they shall be. All others stay. */
  readonly annotations: Annotations;
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

export const planNodePatch = (
  node: KubernetesNode | undefined,
  answers: Annotations | undefined,
): AnnotationPatch | undefined =>
  node === undefined || answers === undefined
    ? undefined
    : toPatch(`/api/v1/nodes/${encodeURIComponent(node.id)}`, node, answers);

function toPatch(
  path: string,
  { uid, annotations: present }: Pick<KubernetesPod, 'uid' | 'annotations'>,
  answers: Annotations,
): AnnotationPatch | undefined {
  const other = Object.entries(answers).filter(([name, value]) => present[name] !== value);
  return other.length === 0 ? undefined : { path, uid, annotations: Object.fromEntries(other) };
}
