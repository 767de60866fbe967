import { setImmediate } from 'node:timers/promises';
import type { EngineContext } from './context.js';
import { clearDoomedName } from './doom.js';
import type { CallOptions, Change, Drift, Owned } from './engine.js';
import { prune } from './prune.js';
import type { Pruned } from './pruned.js';
import type { LinkReaper } from './reaper.js';
import { describeResource } from './providers/index.js';
import { removeResources } from './remove.js';
import type { Resource } from './resource.js';
import type { Failure } from './failure.js';
import { runStep } from './run-step.js';
import { openSession, type Session } from './session.js';
import { planSteps } from './steps.js';
import { surveyHost } from './survey.js';
import { findDrift } from './verify.js';

/**
 * Makes the host look like `desired`; see `Engine.reconcile`. The host is read once for all owners. Other work gets
 * its turn between two owners, so what was read may be outdated by then: a drift is looked at again before it is repaired.
 */
export async function reconcileHost(
  context: EngineContext,
  reaper: LinkReaper,
  desired: readonly Owned[],
  options: CallOptions,
): Promise<Change[]> {
  const survey = surveyHost(context.kernel);
  const changes: Change[] = [];
  for (const owned of desired) {
    options.signal.throwIfAborted();
    const suspected = findDrift(context, owned, survey).length > 0;
    if (suspected) changes.push(...(await repair(context, reaper, owned, options)));
    await setImmediate();
  }
  changes.push(...(await prune(context, reaper, desired, survey)).map(removal));
  context.faults.reach('reconcile:end');
  return changes;
}

const removal = ({ what, error }: Pruned): Change =>
  error === undefined ? { action: 'removed', what } : { action: 'failed', what, error };

/** Mends what it can and reports the rest: one thing that cannot be mended keeps nothing else from it. */
async function repair(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  options: CallOptions,
): Promise<Change[]> {
  const doomed = await clearHalfLinks(context, reaper, owned, options);
  const drifts = findDrift(context, owned, surveyHost(context.kernel));
  const session = openSession(context.kernel, owned);
  try {
    const failures = [...doomed, ...(await mend(context, drifts, session, options))];
    const failed = new Map(failures.map(({ resource, error }) => [resource, error]));
    return drifts.map(({ resource }) => report(owned, resource, failed));
  } finally {
    session.close();
  }
}

function report(owned: Owned, resource: Resource, failed: ReadonlyMap<Resource, unknown>): Change {
  const change = { owner: owned.owner, what: describeResource(resource) };
  if (!failed.has(resource)) return { ...change, action: 'repaired' };
  return { ...change, action: 'failed', error: failed.get(resource) };
}

async function mend(
  context: EngineContext,
  drifts: readonly Drift[],
  session: Session,
  { signal }: CallOptions,
): Promise<Failure[]> {
  const changed = new Set(drifts.filter(({ state }) => state === 'changed').map(({ resource }) => resource));
  const failures: Failure[] = [];
  const steps = planSteps(
    drifts.map(({ resource }) => resource),
    context.single,
  );
  for (const step of steps) {
    for (const mode of ['replace', 'add'] as const) {
      const resources = step.resources.filter((resource) => changed.has(resource) === (mode === 'replace'));
      if (resources.length === 0) continue;
      context.faults.reach(`mend:${mode}:${resources[0]!.kind}`);
      failures.push(...(await runStep({ ...step, resources }, session, signal, mode)));
    }
  }
  return failures;
}

/**
 * A veth whose other end has left the pod or is no longer ours cannot be mended, nor can a tunnel of another kind than wanted:
 * it goes, and is made anew. A veth gives its name up at once, or the parameters under the name would still be taken for those
 * of the new one.
 */
async function clearHalfLinks(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  options: CallOptions,
): Promise<Failure[]> {
  const halves = findDrift(context, owned)
    .filter(({ state }) => state === 'missing')
    .flatMap(({ resource }) => (resource.kind === 'veth' || resource.kind === 'vxlan' ? [resource] : []));
  if (halves.length === 0) return [];
  const session = openSession(context.kernel, owned);
  try {
    await removeResources(context, reaper, { ...owned, resources: halves }, options);
    for (const half of halves) clearDoomedName(session, half);
    return [];
  } catch (error) {
    return halves.map((resource) => ({ resource, error }));
  } finally {
    session.close();
  }
}
