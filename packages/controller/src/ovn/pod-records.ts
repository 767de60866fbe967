/** Answers to pods, in their records. Pure. */
import type { PodAnswer, PodRecord } from '@podwire/cluster-ovn';
import { ovnPodKind } from '@podwire/cluster-state';
import type { KeyWrite } from '@podwire/objects';
import { encodeObject } from '@podwire/store';

/** Nothing for a pod that is another one by now. */
export function writeAnswer({ uid, annotations }: PodAnswer, found: PodRecord | undefined): KeyWrite[] {
  if (found?.record.uid !== uid) return [];
  const { key, revision, record } = found;
  const merged = Object.entries({ ...record.annotations, ...annotations });
  const answered = { ...record, annotations: Object.fromEntries(merged.filter(([, value]) => value !== '')) };
  return [
    {
      condition: { key, expect: revision },
      write: { op: 'put', key, value: encodeObject(ovnPodKind, answered) },
    },
  ];
}
