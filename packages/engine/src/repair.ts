import { PodwireError } from '@podwire/errors';
import { groupBy } from '@podwire/platform';
import { type EngineContext, type Sessions, type Snapshots, takeSnapshots, withSessions } from './call.js';
import type { Failure, Owned, OwnerId, Repair, Resource } from './contract.js';
import type { CallOptions, Change, Drift } from './engine.js';
import { planBatches } from './steps.js';
import { driftsIn, findDrift, withoutAgreeing } from './verify.js';

/** Whether an owner has a resource with this key. */
export type IsOwned = (key: string) => boolean;

/**
 * Repairs one owner and reports what was drifted. What is inside a pod is the pod's business, and so is what makes it
 * unreadable: it keeps neither the node nor other pods from being repaired.
 */
export async function repairOwner(
  context: EngineContext,
  owned: Owned,
  snapshots: Snapshots,
  isOwned: IsOwned,
  options: CallOptions,
): Promise<Change[]> {
  try {
    if ((await findDrift(context, owned, snapshots)).length === 0) return [];
    // Single things are looked up now: the snapshot may be some time old, and another one costs a node's worth.
    const uncleared = await makeRoom(context, owned, await findDrift(context, owned), isOwned, options);
    return await withSessions(context, owned, async (sessions) => {
      const drifts = await driftsIn(context, sessions, owned.resources);
      const failures = [...uncleared, ...(await repairDrifts(context, sessions, drifts, options))];
      return report(context, owned.owner, drifts, failures);
    });
  } catch (error) {
    if (owned.namespace === undefined) throw error;
    return [{ owner: owned.owner, action: 'failed', what: `pod at ${owned.namespace.path}`, error }];
  }
}

const missingOf = (drifts: readonly Drift[]): Resource[] =>
  drifts.filter(({ state }) => state === 'missing').map(({ resource }) => resource);

/** What was only moved or renamed comes back with everything that is on it; what is left of other things goes. */
async function makeRoom(
  context: EngineContext,
  owned: Owned,
  drifts: readonly Drift[],
  isOwned: IsOwned,
  options: CallOptions,
): Promise<Failure[]> {
  const missing = missingOf(drifts);
  if (missing.length === 0) return [];
  await withSessions(context, owned, async (sessions) => {
    for (const [backend, resources] of byBackend(context, missing))
      await sessions.of(backend).recover?.(resources, isOwned);
  });
  return clearParts(context, owned, options);
}

async function clearParts(context: EngineContext, owned: Owned, options: CallOptions): Promise<Failure[]> {
  return withSessions(context, owned, async (sessions) => {
    const candidates = owned.resources.filter((one) => context.kinds.of(one).leavesParts === true);
    const missing = missingOf(await driftsIn(context, sessions, candidates));
    const failures: Failure[] = [];
    for (const [backend, resources] of byBackend(context, missing))
      failures.push(...((await sessions.of(backend).clear?.(resources, options)) ?? []));
    return failures;
  });
}

const byBackend = ({ kinds }: EngineContext, resources: readonly Resource[]): Map<string, Resource[]> =>
  groupBy(resources, (resource) => kinds.of(resource).backend);

/** Repairs as much as can be and is ours to change: one failure keeps nothing else from it, see `Kind.requires`. */
async function repairDrifts(
  context: EngineContext,
  sessions: Sessions,
  drifts: readonly Drift[],
  { signal }: CallOptions,
): Promise<Failure[]> {
  const { kinds, faults } = context;
  const ours = drifts.filter(({ foreign }) => foreign === undefined);
  const changed = new Set(ours.filter(({ state }) => state === 'changed').map(({ resource }) => resource));
  const failures: Failure[] = drifts.flatMap(({ resource, detail, foreign }) =>
    foreign === undefined ? [] : [{ resource, error: new PodwireError(foreign, detail) }],
  );
  const drifted = ours.map(({ resource }) => resource);
  for (const batch of planBatches(kinds, drifted, context.single)) {
    const first = batch.resources[0]!;
    const obstacle = findObstacle(context, first, failures);
    if (obstacle !== undefined) {
      failures.push(...batch.resources.map((resource) => ({ resource, error: obstacle.error })));
      continue;
    }
    const repairs = batch.resources.map((resource): Repair => ({
      resource,
      action: changed.has(resource) ? 'replace' : 'add',
    }));
    faults.reach(`repair:${repairs[0]!.action}:${first.kind}`);
    failures.push(...(await sessions.of(batch.backend).repair(batch, repairs, { signal })));
  }
  return failures;
}

/** A failure that must keep the resource from being repaired. */
function findObstacle(
  { kinds }: EngineContext,
  resource: Resource,
  failures: readonly Failure[],
): Failure | undefined {
  const { requires } = kinds.of(resource);
  if (requires === undefined) return undefined;
  return failures.find((failure) => {
    const { backend, batch } = kinds.of(failure.resource);
    return requires.includes(`${backend}/${batch}`);
  });
}

function report(
  { kinds }: EngineContext,
  owner: OwnerId,
  drifts: readonly Drift[],
  failures: readonly Failure[],
): Change[] {
  const failed = new Map(failures.map(({ resource, error }) => [resource, error]));
  return drifts.map(({ resource }): Change => {
    const change = { owner, what: kinds.describe(resource) };
    if (!failed.has(resource)) return { ...change, action: 'repaired' };
    return { ...change, action: 'failed', error: failed.get(resource) };
  });
}

/** Looks at all of these owners and repairs what drifted, in as few calls as there are batches. */
export async function repairTogether(
  context: EngineContext,
  owners: readonly Owned[],
  snapshots: Snapshots,
  options: CallOptions,
): Promise<Change[]> {
  return withSessions(context, owners[0]!, async (sessions) => {
    const resources = owners.flatMap((owned) => owned.resources);
    const seen = await driftsIn(context, sessions, resources, snapshots);
    if (seen.length === 0) return [];
    const drifts = await withoutMadeSince(context, sessions, seen);
    const failures = await repairDrifts(context, sessions, inBatchOrder(context, resources, drifts), options);
    // A resource that others made meanwhile is there, and is no failure if it is right.
    const serious = await withoutAgreeing(context, sessions, failures, takeSnapshots(context));
    const ofOwner = new Map(owners.flatMap(({ owner, resources }) => resources.map((one) => [one, owner])));
    return drifts.flatMap((drift) => report(context, ofOwner.get(drift.resource)!, [drift], serious));
  });
}

/**
 * The snapshot may be some time old, and what was made since is no repair. How the others differ is as the snapshot has it:
 * it shows also what stands in the place of something, which a look at a single thing may not.
 */
async function withoutMadeSince(
  context: EngineContext,
  sessions: Sessions,
  seen: readonly Drift[],
): Promise<readonly Drift[]> {
  const resources = seen.map(({ resource }) => resource);
  const now = new Set((await driftsIn(context, sessions, resources)).map(({ resource }) => resource));
  return seen.filter(({ resource }) => now.has(resource));
}

/** One owner after the other would change the batch with each. */
function inBatchOrder(
  { kinds }: EngineContext,
  resources: readonly Resource[],
  drifts: readonly Drift[],
): Drift[] {
  const batchOf = (resource: Resource): string => `${kinds.of(resource).backend}/${kinds.of(resource).batch}`;
  const order = [...new Set(resources.map(batchOf))];
  const rank = ({ resource }: Drift): number => order.indexOf(batchOf(resource));
  return drifts.toSorted((a, b) => rank(a) - rank(b));
}
