/** Events of pods that wait for an address, as people read them with `kubectl describe pod`. Pure. */
import { createHash } from 'node:crypto';
import type { OvnPodRecord } from '@podwire/cluster-state';
import { problemAnnotation } from '@podwire/objects/kube-ovn-names';
import type { KubernetesPod } from './contract.js';

export interface PodEvent {
  /** Of the list that it is added to. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Kube-OVN's own word: people search for it. */
const reason = 'AcquireAddressFailed';
const component = 'podwire-controller';
/** Characters: the name of the pod is part of that of the event, which has 253 at most. */
const longestPodName = 230;

/**
 * One for each reason: the name follows from it, so that the server refuses it when another leader, or an attempt without an answer, has
 * written it.
 * @param now milliseconds since 1970
 */
export function planEvent(
  pod: KubernetesPod | undefined,
  record: OvnPodRecord | undefined,
  now: number,
): PodEvent | undefined {
  const message = record?.annotations[problemAnnotation];
  if (message === undefined || pod?.record === undefined || pod.record.uid !== record?.uid) return undefined;
  const { namespace, name } = record;
  const hash = createHash('sha256').update(`${pod.uid} ${message}`).digest('hex').slice(0, 16);
  const time = new Date(now).toISOString().replace(/\.\d+/, '');
  return {
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
    body: {
      ...{ apiVersion: 'v1', kind: 'Event', type: 'Warning', reason, message },
      metadata: { namespace, name: `${name.slice(0, longestPodName).replace(/[-.]+$/, '')}.${hash}` },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: pod.uid },
      ...{ source: { component }, count: 1, firstTimestamp: time, lastTimestamp: time },
    },
  };
}
