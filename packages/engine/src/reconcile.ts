import { setImmediate } from 'node:timers/promises';
import type { EngineContext } from './context.js';
import { clearDoomedName, findLink } from './doom.js';
import type { CallOptions, Change, Owned, ReconcileOptions } from './engine.js';
import type { Failure } from './failure.js';
import { hostEndOf, isLink } from './link-resource.js';
import { mend, report } from './mend.js';
import type { Survey } from './observe.js';
import { prune } from './prune.js';
import type { Pruned } from './pruned.js';
import type { LinkReaper } from './reaper.js';
import { once } from './remember.js';
import { giveNameBack } from './renamed-links.js';
import { removeResources } from './remove.js';
import { repairTogether, splitIntoRuns } from './repair-together.js';
import { openSession } from './session.js';
import { surveyHost } from './survey.js';
import { findDrift } from './verify.js';

/**
 * Makes the host look like `desired`; see `Engine.reconcile`. The host is read once for all owners. Other work gets
 * its turn between two owners, so what was read may be outdated by then: a drift is looked at again before it is repaired.
 * Owners that are no more than routes and the like (peers, by the thousand) are looked at and repaired many at a time.
 */
export async function reconcileHost(
  context: EngineContext,
  reaper: LinkReaper,
  desired: readonly Owned[],
  options: ReconcileOptions,
): Promise<Change[]> {
  let survey = surveyHost(context.kernel);
  const changes: Change[] = [];
  const names = once(
    () => new Set(desired.flatMap(({ resources }) => resources.filter(isLink).map(hostEndOf))),
  );
  const isWanted = (name: string): boolean => names().has(name);
  for (const run of splitIntoRuns(desired)) {
    options.signal.throwIfAborted();
    if (run.together) {
      await survey.readAhead();
      changes.push(...(await repairTogether(context, run.owners, survey, options)));
    } else {
      const [owned] = run.owners;
      const repaired = await repairSuspected(context, reaper, owned!, { survey, isWanted }, options);
      changes.push(...(repaired ?? []));
      // What is mended of the node may have cost others something: a table its elements, a link its routes and neighbours.
      if (repaired !== undefined && owned!.namespace === undefined) survey = surveyHost(context.kernel);
    }
    await setImmediate();
  }
  if (options.keepLeftovers !== true)
    changes.push(...(await prune(context, reaper, desired, survey)).map(removal));
  context.faults.reach('reconcile:end');
  return changes;
}

const removal = ({ what, error }: Pruned): Change =>
  error === undefined ? { action: 'removed', what } : { action: 'failed', what, error };

/** What one owner is repaired with. */
interface Surroundings {
  readonly survey: Survey;
  /** Whether an owner has a link of that name on the host. */
  readonly isWanted: (name: string) => boolean;
}

/**
 * `undefined` when there is nothing to mend. What is inside a pod is the pod's business, and so is what makes it unreadable: it keeps
 * neither the node nor other pods from being put in order.
 */
async function repairSuspected(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  { survey, isWanted }: Surroundings,
  options: CallOptions,
): Promise<Change[] | undefined> {
  try {
    if (findDrift(context, owned, survey).length === 0) return undefined;
    giveNamesBack(context, owned, isWanted);
    return await repair(context, reaper, owned, options);
  } catch (error) {
    if (owned.namespace === undefined) throw error;
    return [{ owner: owned.owner, action: 'failed', what: `pod at ${owned.namespace.path}`, error }];
  }
}

function giveNamesBack({ kernel }: EngineContext, owned: Owned, isWanted: Surroundings['isWanted']): void {
  const session = openSession(kernel, owned);
  try {
    for (const resource of owned.resources) {
      if (resource.kind === 'veth' && findLink(session.namespace('host'), resource.host.name) === undefined)
        giveNameBack(session, resource, isWanted);
    }
  } finally {
    session.close();
  }
}

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
    return drifts.map(({ resource }) => report(owned.owner, resource, failed));
  } finally {
    session.close();
  }
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
