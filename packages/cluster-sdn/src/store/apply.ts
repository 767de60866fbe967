/** Carries a plan out. */
import type { Keys } from '@podwire/cluster-state';
import { objectKey, referenceOf, writeChanges, type WriteChangesOptions } from '@podwire/objects';
import type { Condition } from '@podwire/store';
import type { ClusterPlan } from '../contract.js';
import type { SdnSnapshot } from './read.js';

export interface ApplyOptions extends Pick<WriteChangesOptions, 'store' | 'clock' | 'signal' | 'guard'> {
  readonly keys: Pick<Keys, 'root' | 'sdnGeneration'>;
}

/**
 * Writes the changes in their order, as `writeChanges` of `@podwire/objects` does, over the generation of OpenShift SDN.
 * @returns whether all was written; not so when another writer was faster: look again, and plan again
 * @throws PodwireError STORE_UNAVAILABLE, also where a write may have been done: look again, and plan again
 */
export const applyPlan = (
  { changes }: Pick<ClusterPlan, 'changes'>,
  snapshot: SdnSnapshot,
  { keys, guard = [], ...options }: ApplyOptions,
): Promise<boolean> =>
  writeChanges(changes, {
    ...{ ...options, root: keys.root },
    generation: { key: keys.sdnGeneration, expect: snapshot.generation },
    guard: [...guard, ...networkCondition(snapshot, keys)],
  });

/** Ranges and mode must be those of the plan: people change them without the generation. */
const networkCondition = (
  { objects: { clusterNetwork } }: SdnSnapshot,
  { root }: Pick<Keys, 'root'>,
): Condition[] =>
  clusterNetwork === undefined
    ? []
    : [{ key: objectKey(root, referenceOf(clusterNetwork.object)), expect: clusterNetwork.revision }];
