import { describeError, PodwireError } from '@podwire/errors';
import { groupBy, hasCode } from '@podwire/platform';
import { type EngineContext, type Sessions, type Snapshots, takeSnapshots, withSessions } from './call.js';
import { carryThrough, orFailed, type ThroughOptions } from './carry-out.js';
import { planRepair } from './change-plan.js';
import type { Failure, Owned, OwnerId, Resource } from './contract.js';
import type { CallOptions, Change, Drift } from './engine.js';
import { compareAll, type Comparison, withoutAgreeing } from './verify.js';
import { withdraw } from './withdraw.js';

/** True for a key that some owner has. */
export type IsOwned = (key: string) => boolean;

/**
 * Repairs one owner and reports its drift. Whatever is inside a pod is the pod's business, and so is what makes it
 * unreadable: it keeps neither the node nor other pods from being repaired.
 */
export async function repairOwner(
  context: EngineContext,
  owned: Owned,
  snapshots: Snapshots,
  isOwned: IsOwned,
  options: CallOptions,
): Promise<Change[]> {
  const within = async <T>(work: (sessions: Sessions) => Promise<T>): Promise<T> =>
    withSessions(context, owned, options.signal, work);
  const { resources } = owned;
  try {
    const seen = await within(async (sessions) => compareAll(context, sessions, resources, snapshots));
    if (seen.drifts.length === 0) return reportUnseen(context, owned, seen.unseen);
    // Single things are looked up now: the snapshot may be some time old, and another one costs a node's worth.
    const found = await within(async (sessions) => compareAll(context, sessions, resources));
    const uncleared = await makeRoom(context, owned, found.drifts, isOwned, options);
    return await within(async (sessions) => {
      const now = withDead(context, resources, await compareAll(context, sessions, resources));
      const failures = await repairDrifts(context, sessions, now, { ...options, failed: uncleared });
      const unrepaired = { resources, drifts: now.drifts, failures };
      const withdrawn = await withdraw(context, sessions, unrepaired, { ...options, costsOneCall });
      return [
        ...report(context, owned.owner, now.drifts, failures),
        ...withdrawn.map((failure) => failedChange(context, owned.owner, failure)),
        ...reportUnseen(context, owned, now.unseen),
      ];
    });
  } catch (error) {
    if (owned.namespace === undefined && !costsOneOwner(error)) throw error;
    const what = owned.namespace === undefined ? owned.owner : `pod at ${owned.namespace.path}`;
    return [{ owner: owned.owner, action: 'failed', what, error }];
  }
}

const costsOneOwner = (error: unknown): boolean => costsOneCall(error) || hasCode(error, 'RESOURCE_CIRCLE');

const missingOf = (drifts: readonly Drift[]): Resource[] =>
  drifts.filter(({ state }) => state === 'missing').map(({ resource }) => resource);

/** A resource that dies with a missing one is missing too, also where the place of a value that may be absent is all there is to see. */
function withDead(
  { kinds }: EngineContext,
  resources: readonly Resource[],
  { drifts, unseen }: Comparison,
): Comparison {
  const gone = new Set(missingOf(drifts).flatMap((resource) => kinds.carriedBy(resource)));
  const known = new Set([...drifts, ...unseen].map(({ resource }) => resource));
  const isDead = (resource: Resource): boolean => gone.has(kinds.of(resource).diesWith?.(resource) ?? '');
  const dead = resources.filter((resource) => !known.has(resource) && isDead(resource));
  const detail = 'it went with what it was on';
  return {
    drifts: [...drifts, ...dead.map((resource): Drift => ({ resource, state: 'missing', detail }))],
    unseen,
  };
}

/** A thing that was only moved or renamed comes back with all that is on it; the parts left of other things go. */
async function makeRoom(
  context: EngineContext,
  owned: Owned,
  drifts: readonly Drift[],
  isOwned: IsOwned,
  options: CallOptions,
): Promise<Failure[]> {
  const missing = missingOf(drifts);
  if (missing.length === 0) return [];
  await withSessions(context, owned, options.signal, async (sessions) => {
    for (const [backend, resources] of byBackend(context, missing))
      await sessions.of(backend).recover(resources, isOwned);
  });
  return clearParts(context, owned, options);
}

async function clearParts(context: EngineContext, owned: Owned, options: CallOptions): Promise<Failure[]> {
  return withSessions(context, owned, options.signal, async (sessions) => {
    const candidates = owned.resources.filter((one) => context.kinds.of(one).leavesParts === true);
    const missing = missingOf((await compareAll(context, sessions, candidates)).drifts);
    const renewed = renewedWith(context, owned.resources, missing);
    const failures: Failure[] = [];
    for (const [backend, resources] of byBackend(context, [...missing, ...renewed])) {
      const clear = async (): Promise<readonly Failure[]> => sessions.of(backend).clear(resources);
      failures.push(...(await orFailed(resources, clear, { costsOneCall })));
    }
    return [...failures, ...keptBackBy(context, failures, missing)];
  });
}

/** Resources that do not take the new ones for those that are missing. */
function renewedWith(
  { kinds }: EngineContext,
  resources: readonly Resource[],
  missing: readonly Resource[],
): Resource[] {
  const keys = new Set(missing.flatMap((resource) => kinds.carriedBy(resource)));
  return resources.filter(
    (one) =>
      kinds
        .of(one)
        .renewedWith?.(one)
        .some((key) => keys.has(key)) === true,
  );
}

/** A resource that could not be cleared would not be renewed later: the new one that it is renewed with waits for it. */
function keptBackBy(
  context: EngineContext,
  failures: readonly Failure[],
  missing: readonly Resource[],
): Failure[] {
  return missing.flatMap((resource): Failure[] => {
    const cause = failures.find((failure) => renewedWith(context, [failure.resource], [resource]).length > 0);
    return cause === undefined ? [] : [{ resource, error: cause.error }];
  });
}

const byBackend = ({ kinds }: EngineContext, resources: readonly Resource[]): Map<string, Resource[]> =>
  groupBy(resources, (resource) => kinds.of(resource).backend);

/** Repairs as much as can be and is ours to change: a failure keeps back only what needs the thing that failed. */
async function repairDrifts(
  context: EngineContext,
  sessions: Sessions,
  { drifts, unseen }: Comparison,
  { failed: uncleared = [], ...options }: ThroughOptions,
): Promise<readonly Failure[]> {
  const foreign = drifts.flatMap(({ resource, detail, foreign }): Failure[] =>
    foreign === undefined ? [] : [{ resource, error: new PodwireError(foreign, detail) }],
  );
  const hopeless = [...foreign, ...uncleared];
  const isHopeless = new Set(hopeless.map(({ resource }) => resource));
  const ours = drifts.filter(({ resource }) => !isHopeless.has(resource));
  const steps = planRepair(context.kinds, ours, context.single);
  const through = { ...options, failed: [...unseen, ...hopeless], costsOneCall };
  return [...hopeless, ...(await carryThrough(context, sessions, steps, through))];
}

/** A backend that is silent costs the owner what it has there, and no more. */
const costsOneCall = (error: unknown): boolean => hasCode(error, 'BACKEND_SILENT');

const failedChange = ({ kinds }: EngineContext, owner: OwnerId, { resource, error }: Failure): Change => ({
  ...{ owner, action: 'failed', what: kinds.describe(resource), error },
});

function report(
  { kinds }: EngineContext,
  owner: OwnerId,
  drifts: readonly Drift[],
  failures: readonly Failure[],
): Change[] {
  const failed = new Map(failures.map(({ resource, error }) => [resource, error]));
  return drifts.map(({ resource, state }): Change => {
    const change = { owner, what: kinds.describe(resource) };
    if (failed.has(resource)) return { ...change, action: 'failed', error: failed.get(resource) };
    const hadGap = state === 'changed' && !kinds.isRepairedInPlace(resource);
    return { ...change, action: 'repaired', ...(hadGap ? { gap: true } : {}) };
  });
}

/**
 * One line for each backend: a list of all that could not be looked at is no help. What keeps several backends from looking at a
 * pod is one line as well.
 */
function reportUnseen(
  context: EngineContext,
  { owner, namespace }: Omit<Owned, 'resources'>,
  unseen: readonly Failure[],
): Change[] {
  const sorts = groupBy(unseen, ({ resource, error }) =>
    namespace === undefined ? context.kinds.of(resource).backend : describeError(error),
  );
  return [...sorts].map(([sort, failures]): Change => {
    const part = `all ${failures.length} resources in ${sort}`;
    const what = namespace === undefined ? part : `pod at ${namespace.path}`;
    return { owner, action: 'failed', what, error: failures[0]!.error };
  });
}

/** Looks at all of these owners and repairs their drift, in as few calls as there are batches. */
export async function repairTogether(
  context: EngineContext,
  owners: readonly Owned[],
  snapshots: Snapshots,
  options: CallOptions,
): Promise<Change[]> {
  return withSessions(context, owners[0]!, options.signal, async (sessions) => {
    const resources = owners.flatMap((owned) => owned.resources);
    const seen = await compareAll(context, sessions, resources, snapshots);
    const found = await withoutMadeSince(context, sessions, seen);
    const failures = await repairDrifts(context, sessions, found, options);
    // A resource that others made meanwhile is there, and is no failure if it is right.
    const serious = await withoutAgreeing(context, sessions, failures, takeSnapshots(context));
    const ownerOf = new Map(owners.flatMap(({ owner, resources }) => resources.map((one) => [one, owner])));
    const unseen = groupBy(found.unseen, ({ resource }) => ownerOf.get(resource)!);
    return [
      ...found.drifts.flatMap((drift) => report(context, ownerOf.get(drift.resource)!, [drift], serious)),
      ...[...unseen].flatMap(([owner, failures]) => reportUnseen(context, { owner }, failures)),
    ];
  });
}

/**
 * The snapshot may be some time old, and what was made since is no repair. How the others differ is as the snapshot has
 * it: it shows also what stands in the place of something, which a look at a single thing may not.
 */
async function withoutMadeSince(
  context: EngineContext,
  sessions: Sessions,
  { drifts, unseen }: Comparison,
): Promise<Comparison> {
  if (drifts.length === 0) return { drifts, unseen };
  const resources = drifts.map(({ resource }) => resource);
  const again = await compareAll(context, sessions, resources);
  const now = new Set(again.drifts.map(({ resource }) => resource));
  return {
    drifts: drifts.filter(({ resource }) => now.has(resource)),
    unseen: [...unseen, ...again.unseen],
  };
}
