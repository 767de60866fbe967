/** Annotations of pods in the store of a testbed of the model ovn, as they are in Kubernetes: they change while pods run. */
import { keysBelow, ovnPodKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject, encodeObject, repeatOnConflict, type Store } from '@podwire/store';
import type { AnnotationChanges } from '../pod-spec.js';
import type { PodRecord } from '../record.js';
import { storeRoot } from '../shape.js';

/** The controller may write at the same time. @throws PodwireError TESTBED_FAILED for a pod without a record; as the store does */
export async function annotateInStore(
  store: Pick<Store, 'get' | 'put'>,
  pod: PodRecord,
  changes: AnnotationChanges,
  signal: AbortSignal,
): Promise<void> {
  await repeatOnConflict(() => annotateOnce(store, pod, changes, signal));
}

async function annotateOnce(
  store: Pick<Store, 'get' | 'put'>,
  { namespace, name, uid }: PodRecord,
  changes: AnnotationChanges,
  signal: AbortSignal,
): Promise<void> {
  const key = keysBelow(storeRoot).ovnPod(namespace, name);
  const item = await store.get(key, { signal });
  const record = item === undefined ? undefined : decodeObject(ovnPodKind, key, item.value);
  if (item === undefined || record === undefined || record.uid !== uid)
    throw new PodwireError('TESTBED_FAILED', `the pod ${namespace}/${name} has no record in the store`);
  const annotations = changeAnnotations(record.annotations, changes);
  const value = encodeObject(ovnPodKind, { ...record, annotations });
  await store.put(key, value, { expect: item.revision, signal });
}

/** Pure. */
export const changeAnnotations = (
  before: Readonly<Record<string, string>>,
  changes: AnnotationChanges,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...before, ...changes }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    ),
  );
