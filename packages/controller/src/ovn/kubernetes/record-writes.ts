/** Writes after which the records of pods are as the API server has the pods. Pure. */
import type { ClusterMemory } from '@podwire/cluster-ovn';
import { type Keys, ovnPodKind } from '@podwire/cluster-state';
import type { KeyWrite } from '@podwire/objects';
import { encodeObject } from '@podwire/store';
import type { ClusterView } from './cluster-view.js';
import { planRecord } from './plan-record.js';

export interface RecordSources {
  readonly view: Pick<ClusterView, 'pod' | 'podIds' | 'hasNamespace' | 'subnetOf'>;
  readonly memory: Pick<ClusterMemory, 'podRecord' | 'hasUnreadablePod' | 'listPodRecords'>;
  readonly keys: Pick<Keys, 'ovnPod'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** @param due ids of pods that are compared */
export function listRecordWrites(due: ReadonlySet<string> | 'all', sources: RecordSources): KeyWrite[] {
  const ids = due === 'all' ? listAll(sources) : due;
  return [...ids].flatMap((id) => writeRecord(id, sources));
}

const listAll = ({ view, memory }: RecordSources): ReadonlySet<string> =>
  new Set([
    ...view.podIds(),
    ...memory.listPodRecords().map(({ record: { namespace, name } }) => `${namespace}/${name}`),
  ]);

/** Nothing for a pod that cannot be read, here or there: what is stored of it stays. */
function writeRecord(id: string, { view, memory, keys, now }: RecordSources): KeyWrite[] {
  const read = view.pod(id);
  if (read?.problem !== undefined || memory.hasUnreadablePod(id)) return [];
  const [namespace = '', name = ''] = id.split('/');
  // Each kind has a watch of its own: the namespace that chooses the subnet may be heard of after its first pod.
  if (read !== undefined && !view.hasNamespace(namespace)) return [];
  const found = memory.podRecord(id);
  const change = planRecord({ pod: read?.object, subnet: view.subnetOf(namespace), found, now });
  if (change === undefined) return [];
  const key = keys.ovnPod(namespace, name);
  const condition = { key, expect: found?.revision ?? ('absent' as const) };
  if (change.type === 'delete') return [{ condition, write: { op: 'delete', key } }];
  return [{ condition, write: { op: 'put', key, value: encodeObject(ovnPodKind, change.record) } }];
}
