/** Carries out a difference: hundreds of keys in one change, and scope by scope after a failure. */
import type { CallOptions, Engine, Owner, Resource } from '@podwire/engine';
import { groupBy, type Log } from '@podwire/platform';
import type { Change, Scope } from './contract.js';
import type { Planner } from './planner.js';

/** Keys that travel together: one call to the kernel for many costs a fraction of one each. */
const batchSize = 2_048;

export interface ApplyOptions extends CallOptions {
  readonly engine: Pick<Engine, 'change'>;
  readonly log: Log;
  /** The engine's name of a scope. */
  readonly ownerOf: (scope: Scope) => string;
}

export interface ApplyOutcome {
  readonly added: number;
  readonly removed: number;
  /** Scopes that could not be applied, and why. */
  readonly failed: ReadonlyMap<Scope, unknown>;
}

/**
 * Makes the kernel follow the plans.
 * @throws the signal's reason; what was under way is uncertain then, and is part of the next difference
 */
export async function applyDifference(
  planner: Planner<Resource>,
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  return applyChanges(planner, planner.difference(), options);
}

/**
 * The same for some changes, such as those of one scope that was planned at once. Calls may run side by side: a key that another
 * call has begun is left out.
 * @throws the signal's reason, as {@link applyDifference}
 */
export async function applyChanges(
  planner: Planner<Resource>,
  changes: readonly Change<Resource>[],
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  const failed = new Map<Scope, unknown>();
  let [added, removed] = [0, 0];
  for (let at = 0; at < changes.length; at += batchSize) {
    // The list may be old by now: `begin` returns each change as it is at this moment.
    const batch = planner.begin(changes.slice(at, at + batchSize));
    try {
      const failures = await carryOut(planner, batch, options);
      for (const [scope, error] of failures) failed.set(scope, error);
      added += batch.filter(({ add, scope }) => add !== undefined && !failures.has(scope)).length;
      removed += batch.reduce((sum, { remove }) => sum + remove.length, 0);
    } finally {
      planner.abandon(batch);
    }
  }
  return { added, removed, failed };
}

export interface AtOnceOptions extends CallOptions {
  readonly engine: Pick<Engine, 'change'>;
  /** The engine's name for who makes the change, with the namespace of its `pod` place. */
  readonly owner: Owner;
}

/**
 * Carries these out in one change: all of them or none. How a call that fails has ended may be unknown, so they are uncertain until they
 * are tried again.
 * @throws the engine's error
 */
export async function applyAtOnce(
  planner: Planner<Resource>,
  changes: readonly Change<Resource>[],
  { engine, owner, ...options }: AtOnceOptions,
): Promise<void> {
  const begun = planner.begin(changes);
  if (begun.length === 0) return;
  try {
    await engine.change(owner, changeSetOf(begun), options);
    planner.succeed(begun);
  } finally {
    planner.abandon(begun);
  }
}

const changeSetOf = (changes: readonly Change<Resource>[]) => ({
  remove: changes.flatMap(({ remove }) => remove),
  add: changes.flatMap(({ add }) => (add === undefined ? [] : [add])),
});

/** All of them together, or one scope after the other when that fails: then it is known which, and the others are served. */
async function carryOut(
  planner: Planner<Resource>,
  batch: readonly Change<Resource>[],
  options: ApplyOptions,
): Promise<Map<Scope, unknown>> {
  const error = await tryChange(batch, options);
  if (error === undefined) {
    planner.succeed(batch);
    return new Map();
  }
  const scopes = groupBy(batch, ({ scope }) => scope);
  if (scopes.size > 1) options.log.warn({ err: error, scopes: scopes.size }, 'applying scope by scope');
  const failed = new Map<Scope, unknown>();
  for (const [scope, changes] of scopes) {
    const reason = scopes.size > 1 ? await tryChange(changes, options) : error;
    if (reason === undefined) {
      planner.succeed(changes);
    } else {
      planner.fail(changes, reason);
      failed.set(scope, reason);
      options.log.error({ err: reason, scope }, 'a scope could not be applied');
    }
  }
  return failed;
}

/**
 * Content that changes at its key does so in place, where its kind can.
 * @throws the signal's reason
 * @returns the error of the engine, which has undone the change; nothing where things alone could not be removed
 */
async function tryChange(changes: readonly Change<Resource>[], options: ApplyOptions): Promise<unknown> {
  if (changes.length === 0) return undefined;
  const { engine, signal, log } = options;
  const owner = ownerOfAll(
    changes.map(({ scope }) => scope),
    options,
  );
  const change = changeSetOf(changes);
  try {
    await engine.change({ owner }, change, { signal });
    return undefined;
  } catch (err) {
    signal.throwIfAborted();
    if (change.add.length > 0) return err;
    log.error({ err, owner }, 'not everything could be removed; the next reconcile does the rest');
    return undefined;
  }
}

/** `peer:node1`, or `peer:node1…peer:node256` for what belongs to several scopes. */
function ownerOfAll(scopes: readonly Scope[], { ownerOf }: ApplyOptions): string {
  const [first, last] = [scopes[0]!, scopes.at(-1)!];
  return first === last ? ownerOf(first) : `${ownerOf(first)}…${ownerOf(last)}`;
}
