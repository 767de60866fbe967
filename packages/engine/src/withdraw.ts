/** Resources that would do harm without another one: they go when that is otherwise than wanted, and stays so. */
import type { EngineContext, Sessions } from './call.js';
import { carryThrough, type ThroughOptions } from './carry-out.js';
import { planChange } from './change-plan.js';
import type { Failure, Resource } from './contract.js';
import type { Drift } from './engine.js';

/** Drifts as they were seen, and all that could not be repaired. */
export interface Unrepaired {
  /** Of the owner. */
  readonly resources: readonly Resource[];
  readonly drifts: readonly Drift[];
  readonly failures: readonly Failure[];
}

/**
 * Removes resources of an owner that must not stand without one that could not be repaired; see `Kind.onlyWith`. What could
 * not be looked at is taken for what it was.
 * @returns those that could not be removed, and the others that were as wanted, with the error of what they lack
 */
export async function withdraw(
  context: EngineContext,
  sessions: Sessions,
  { resources, drifts, failures }: Unrepaired,
  options: ThroughOptions,
): Promise<readonly Failure[]> {
  const { kinds, single } = context;
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
  const remove = going.map(({ resource }) => resource);
  const left = await carryThrough(context, sessions, planChange(kinds, { remove }, single).steps, options);
  const isLeft = new Set(left.map(({ resource }) => resource));
  return [...left, ...going.filter(({ resource }) => !states.has(resource) && !isLeft.has(resource))];
}
