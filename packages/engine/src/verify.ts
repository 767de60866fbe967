import { type EngineContext, observe, type Sessions, type Snapshots, withSessions } from './call.js';
import type { Difference, Failure, Observed, Owned, Resource } from './contract.js';
import type { Drift } from './engine.js';

/** What of a list is missing or changed, in the list's order; see `Engine.verify`. */
export async function findDrift(
  context: EngineContext,
  owned: Owned,
  snapshots?: Snapshots,
): Promise<Drift[]> {
  return withSessions(context, owned, async (sessions) =>
    driftsIn(context, sessions, owned.resources, snapshots),
  );
}

export async function driftsIn(
  context: EngineContext,
  sessions: Sessions,
  resources: readonly Resource[],
  snapshots?: Snapshots,
): Promise<Drift[]> {
  const observed = await observe(context, sessions, resources, snapshots);
  return resources.flatMap((resource) => {
    const difference = differenceOf(context, resource, observed);
    return difference === undefined ? [] : [driftOf(resource, difference)];
  });
}

/** In a place that is gone everything is missing. */
export function differenceOf(
  { kinds }: EngineContext,
  resource: Resource,
  observed: Observed,
): Difference | undefined {
  const observation = observed.get(resource);
  if (observation === undefined) return { missing: 'it was not looked at' };
  if ('gone' in observation) return { missing: observation.gone };
  return kinds.of(resource).compare(resource, observation.found);
}

/**
 * Leaves out failures that only say that something is there already, where it is just what the resource asks for: after a
 * crash, by repair, or because another owner was faster.
 */
export async function withoutAgreeing(
  context: EngineContext,
  sessions: Sessions,
  failures: readonly Failure[],
  snapshots?: Snapshots,
): Promise<readonly Failure[]> {
  const isConflict = ({ resource, error }: Failure): boolean =>
    context.backends.get(context.kinds.of(resource).backend)!.isConflict(error);
  const conflicts = failures.filter(isConflict).map(({ resource }) => resource);
  if (conflicts.length === 0) return failures;
  const observed = await observe(context, sessions, conflicts, snapshots);
  return failures.filter(
    (failure) => !isConflict(failure) || differenceOf(context, failure.resource, observed) !== undefined,
  );
}

function driftOf(resource: Resource, difference: Difference): Drift {
  if (typeof difference === 'string') return { resource, state: 'changed', detail: difference };
  if ('missing' in difference) return { resource, state: 'missing', detail: difference.missing };
  return { resource, state: 'changed', detail: difference.foreign, foreign: difference.code };
}
