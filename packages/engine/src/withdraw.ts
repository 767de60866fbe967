/** Resources that would do harm without another one: they go when that is otherwise than wanted, and stays so. */
import type { EngineContext, Sessions } from './call.js';
import type { Failure, Resource } from './contract.js';
import type { Drift } from './engine.js';
import { planRemoval } from './steps.js';

/** Drifts as they were seen, and what could not be repaired. */
export interface Unrepaired {
  readonly drifts: readonly Drift[];
  readonly failures: readonly Failure[];
}

/**
 * Removes resources of an owner that must not stand without one that could not be repaired; see `Kind.onlyWith`. What could
 * not be looked at is taken for what it was.
 * @returns those of them that were as wanted, with the error of what they lack
 */
export async function withdraw(
  { kinds, single }: EngineContext,
  sessions: Sessions,
  resources: readonly Resource[],
  { drifts, failures }: Unrepaired,
): Promise<readonly Failure[]> {
  const states = new Map(drifts.map(({ resource, state }) => [resource, state]));
  const lacking = new Map(
    failures
      .filter(({ resource }) => states.has(resource))
      .flatMap(({ resource, error }) => kinds.carriedBy(resource).map((key) => [key, error] as const)),
  );
  const going = resources.flatMap((resource): Failure[] => {
    const key = kinds
      .of(resource)
      .onlyWith?.(resource)
      .find((one) => lacking.has(one));
    const isThere = states.get(resource) !== 'missing';
    return key !== undefined && isThere ? [{ resource, error: lacking.get(key) }] : [];
  });
  const batches = planRemoval(
    kinds,
    going.map(({ resource }) => resource),
    single,
  );
  for (const batch of batches) await sessions.of(batch.backend).remove(batch);
  return going.filter(({ resource }) => !states.has(resource));
}
