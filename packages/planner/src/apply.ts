/** Carries out a difference: removals before additions, hundreds of keys in one call, scope by scope after a failure. */
import type { CallOptions, Engine, Resource } from '@podwire/engine';
import { groupBy, type Log } from '@podwire/platform';
import type { Change, Planner, Scope } from './planner.js';

/** Keys that travel together: one call to the kernel for many costs a fraction of one each. */
const batchSize = 2_048;

export interface ApplyOptions extends CallOptions {
  readonly engine: Pick<Engine, 'apply' | 'remove'>;
  readonly log: Log;
  /** The engine's name of a scope. */
  readonly ownerOf: (scope: Scope) => string;
  /** Puts resources that travel the same way next to each other; their order is otherwise kept. */
  readonly arrange: (resources: readonly Resource[]) => Resource[];
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
  const changes = planner.difference();
  const failed = new Map<Scope, unknown>();
  for (let at = 0; at < changes.length; at += batchSize) {
    const batch = changes.slice(at, at + batchSize);
    planner.begin(batch);
    await removeBatch(batch, options);
    for (const [scope, error] of await addBatch(planner, batch, options)) failed.set(scope, error);
  }
  const added = changes.filter(({ add, scope }) => add !== undefined && !failed.has(scope)).length;
  const removed = changes.reduce((sum, { remove }) => sum + remove.length, 0);
  return { added, removed, failed };
}

/** A key may go from one scope to another, and the kernel has room for one thing there: removal comes first. */
async function removeBatch(batch: readonly Change<Resource>[], options: ApplyOptions): Promise<void> {
  const gone = batch.filter(({ remove }) => remove.length > 0);
  if (gone.length === 0) return;
  const { engine, signal, log, arrange } = options;
  const owner = ownerOfAll(
    gone.map(({ from }) => from),
    options,
  );
  const owned = { owner, resources: arrange(gone.flatMap(({ remove }) => remove)) };
  try {
    await engine.remove(owned, { signal });
  } catch (err) {
    signal.throwIfAborted();
    log.error({ err, owner }, 'not everything could be removed; the next reconcile does the rest');
  }
}

/** All of them together, or one scope after the other when that fails: then it is known which, and the others are served. */
async function addBatch(
  planner: Planner<Resource>,
  batch: readonly Change<Resource>[],
  options: ApplyOptions,
): Promise<Map<Scope, unknown>> {
  const error = await tryAdd(batch, options);
  if (error === undefined) {
    planner.succeed(batch);
    return new Map();
  }
  const scopes = groupBy(batch, ({ scope }) => scope);
  if (scopes.size > 1) options.log.warn({ err: error, scopes: scopes.size }, 'applying scope by scope');
  const failed = new Map<Scope, unknown>();
  for (const [scope, changes] of scopes) {
    const reason = scopes.size > 1 ? await tryAdd(changes, options) : error;
    if (reason === undefined) {
      planner.succeed(changes);
    } else {
      planner.fail(changes);
      failed.set(scope, reason);
      options.log.error({ err: reason, scope }, 'a scope could not be applied');
    }
  }
  return failed;
}

/** @throws the signal's reason @returns the error of the engine */
async function tryAdd(changes: readonly Change<Resource>[], options: ApplyOptions): Promise<unknown> {
  const added = changes.filter(({ add }) => add !== undefined);
  if (added.length === 0) return undefined;
  const { engine, signal, arrange } = options;
  const resources = arrange(added.map(({ add }) => add!));
  try {
    const owner = ownerOfAll(
      added.map(({ scope }) => scope),
      options,
    );
    await engine.apply({ owner, resources }, { signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error;
  }
}

/** `peer:node1`, or `peer:node1…peer:node256` for what belongs to several scopes. */
function ownerOfAll(scopes: readonly Scope[], { ownerOf }: ApplyOptions): string {
  const [first, last] = [scopes[0]!, scopes.at(-1)!];
  return first === last ? ownerOf(first) : `${ownerOf(first)}…${ownerOf(last)}`;
}
