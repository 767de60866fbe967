/** The record of a pod in the store, as the API server has the pod. Pure. */
import {
  annotationNames,
  mergeAnswers,
  type PodRecord,
  readAllocation,
  readAsked,
} from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';
import { isEqual } from '@podwire/objects';
import type { KubernetesPod } from './contract.js';

export type RecordChange =
  { readonly type: 'put'; readonly record: OvnPodRecord } | { readonly type: 'delete' } | undefined;

export interface RecordInput {
  /** Absent: the API server has none of that name. */
  readonly pod: KubernetesPod | undefined;
  /** Of its namespace. */
  readonly subnet: string | undefined;
  /** In the store. */
  readonly found: Pick<PodRecord, 'record'> | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * A pod keeps what it has been given, and what it asks for follows the API server. A record that a node has written under the same
 * name for another pod is left alone: either its DEL is still to come, or the watch is behind.
 * @returns undefined where the record is as it shall be
 */
export function planRecord({ pod, subnet, found, now }: RecordInput): RecordChange {
  const wanted = pod === undefined || isOver(pod, now) ? undefined : pod.record;
  const isOfNode = found !== undefined && found.record.source === undefined;
  if (wanted === undefined) return found === undefined || isOfNode ? undefined : { type: 'delete' };
  const isSame = found?.record.uid === wanted.uid;
  if (isOfNode && !isSame) return undefined;
  const chosen = subnet === undefined ? {} : { [annotationNames.subnet]: subnet };
  const asking = { ...wanted, annotations: { ...chosen, ...wanted.annotations } };
  const record = isSame ? mergeRecords(asking, found.record) : asking;
  return isEqual(record, found?.record) ? undefined : { type: 'put', record };
}

/**
 * A node asks for what its pod has already, or for what its runtime names: that counts until it is answered, and the record is the
 * node's as long.
 */
function mergeRecords(wanted: OvnPodRecord, found: OvnPodRecord): OvnPodRecord {
  const isPending = found.source === undefined && readAllocation(found.annotations) === undefined;
  if (!isPending) return { ...wanted, annotations: mergeAnswers(wanted.annotations, found.annotations) };
  const { source: _, ...ofNode } = wanted;
  const asked = { ...wanted.annotations, ...readAsked(found.annotations) };
  return { ...ofNode, annotations: mergeAnswers(asked, found.annotations) };
}

/** Pods of stateful sets keep their addresses all the same, as long as their set wants them. */
const isOver = ({ hasEnded, endsAt }: KubernetesPod, now: number): boolean =>
  hasEnded || (endsAt !== undefined && now >= endsAt);
