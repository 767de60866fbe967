import { type EngineContext, observe, type Sessions, type Snapshots, withSessions } from './call.js';
import type { Difference, Failure, Observed, Owned, Resource } from './contract.js';
import type { CallOptions, Drift } from './engine.js';

/** The resources of a list that are missing or changed, in the list's order; see `Engine.verify`. */
export async function findDrift(
  context: EngineContext,
  owned: Owned,
  { signal }: CallOptions,
): Promise<Drift[]> {
  return withSessions(context, owned, signal, async (sessions) => {
    const { drifts, unseen } = await compareAll(context, sessions, owned.resources);
    if (unseen.length > 0) throw unseen[0]!.error;
    return drifts;
  });
}

/** A look at some resources. Of those that could not be looked at nothing is known. */
export interface Comparison {
  /** In the order of the list. */
  readonly drifts: Drift[];
  readonly unseen: readonly Failure[];
}

export async function compareAll(
  context: EngineContext,
  sessions: Sessions,
  resources: readonly Resource[],
  snapshots?: Snapshots,
): Promise<Comparison> {
  const { observed, unseen } = await observe(context, sessions, resources, snapshots);
  const drifts = resources.flatMap((resource) => {
    const difference = differenceOf(context, resource, observed);
    return difference === undefined ? [] : [driftOf(resource, difference)];
  });
  return { drifts, unseen };
}

/** In a place that is gone everything is missing. Nothing differs where nothing was seen. */
function differenceOf(
  { kinds }: EngineContext,
  resource: Resource,
  observed: Observed,
): Difference | undefined {
  const observation = observed.get(resource);
  if (observation === undefined || 'unseen' in observation) return undefined;
  if ('gone' in observation) return { missing: observation.gone };
  return kinds.of(resource).compare(resource, observation.found);
}

/**
 * Leaves out failures whose resource is there already and just as wanted: after a crash, by repair, or because another
 * owner was faster.
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
  const { drifts, unseen } = await compareAll(context, sessions, conflicts, snapshots);
  const others = new Set([...drifts, ...unseen].map(({ resource }) => resource));
  return failures.filter((failure) => !isConflict(failure) || others.has(failure.resource));
}

function driftOf(resource: Resource, difference: Difference): Drift {
  if (typeof difference === 'string') return { resource, state: 'changed', detail: difference };
  if ('missing' in difference) return { resource, state: 'missing', detail: difference.missing };
  return { resource, state: 'changed', detail: difference.foreign, foreign: difference.code };
}
