import { setImmediate } from 'node:timers/promises';
import { hasCode } from '@podwire/platform';
import { type EngineContext, type Sessions, type Snapshots, withSessions } from './call.js';
import type { MarkedThing, Owned, Resource, Snapshot } from './contract.js';
import type { Change, ReconcileOptions } from './engine.js';
import type { KindRegistry } from './registry.js';

/** Things in one call: other work gets its turn every few milliseconds, also when thousands have to go. */
const BATCH = 512;

/** The keys of everything that some owner has wanted since a reconcile began. */
export class WantedKeys {
  readonly #kinds: KindRegistry;
  readonly #wanted: () => Iterable<Owned>;
  readonly #keys = new Set<string>();
  /** Most lists are the same every time; their keys are made once. */
  readonly #seen = new Set<Resource>();

  constructor(kinds: KindRegistry, wanted: () => Iterable<Owned>) {
    this.#kinds = kinds;
    this.#wanted = wanted;
  }

  note(resources: readonly Resource[]): void {
    for (const resource of resources) {
      if (this.#seen.has(resource)) continue;
      this.#seen.add(resource);
      this.#keys.add(this.#kinds.keyOf(resource));
    }
  }

  /** Takes in what is wanted at this moment. */
  refresh(): void {
    for (const { resources } of this.#wanted()) this.note(resources);
  }

  /** As of the last refresh. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  hasNow(key: string): boolean {
    this.refresh();
    return this.has(key);
  }

  resourcesNow(): Resource[] {
    return [...this.#wanted()].flatMap(({ resources }) => resources);
  }
}

/**
 * Takes away what carries our mark and is in no list: the leftovers of a process that lost its records. Never looks at
 * anything without the mark. The last backend begins: what it has refers to what earlier ones have.
 *
 * Other work may go on. A thing is deleted only if nothing has wanted it since the reconcile began, and that is looked
 * at twice: after it was listed, and in the tick in which it is deleted. What comes after the list was made is not in
 * it; what an owner gives up meanwhile is removed by that owner.
 * @param snapshots what was there before anything was repaired: what was made since is wanted
 */
export async function pruneLeftovers(
  context: EngineContext,
  wanted: WantedKeys,
  snapshots: Snapshots,
  { signal }: ReconcileOptions,
): Promise<Change[]> {
  const leftovers = { owner: 'leftovers', resources: [] };
  return withSessions(context, leftovers, signal, async (sessions) => {
    const changes: Change[] = [];
    for (const name of [...context.backends.keys()].reverse()) {
      try {
        const snapshot = snapshots.get(name);
        changes.push(...(await pruneBackend(context, sessions, name, wanted, snapshot)));
        await context.queues.get(name)?.adoptAll(signal, snapshot);
      } catch (error) {
        if (!hasCode(error, 'BACKEND_SILENT')) throw error;
        changes.push({ action: 'failed', what: `leftovers in ${name}`, error });
      }
    }
    return changes;
  });
}

async function pruneBackend(
  context: EngineContext,
  sessions: Sessions,
  name: string,
  wanted: WantedKeys,
  snapshot: Snapshot | undefined,
): Promise<Change[]> {
  const marked = await sessions.of(name).listMarked(wanted.resourcesNow(), snapshot);
  await setImmediate();
  wanted.refresh();
  const unwanted = marked.filter(({ key }) => !wanted.has(key));
  const changes = await pruneAll(context, sessions, name, unwanted, wanted);
  await setImmediate();
  return changes;
}

async function pruneAll(
  context: EngineContext,
  sessions: Sessions,
  backend: string,
  things: readonly MarkedThing[],
  wanted: WantedKeys,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const batch of inBatches(things, context.single ? 1 : BATCH)) {
    context.faults.reach(`prune:${sortOf(batch[0]!)}`);
    wanted.refresh();
    const unwanted = batch.filter(({ key }) => !wanted.has(key));
    if (unwanted.length === 0) continue;
    const failures = await sessions.of(backend).prune(unwanted);
    for (const thing of unwanted) changes.push(...changeOf(context, backend, thing, failures));
    await setImmediate();
  }
  return changes;
}

/** The first word. */
const sortOf = ({ what }: MarkedThing): string => what.split(' ', 1)[0]!;

function inBatches(things: readonly MarkedThing[], size: number): MarkedThing[][] {
  const batches: MarkedThing[][] = [];
  for (const thing of things) {
    const last = batches.at(-1);
    if (last !== undefined && last.length < size && sortOf(last[0]!) === sortOf(thing)) last.push(thing);
    else batches.push([thing]);
  }
  return batches;
}

/** A thing that is not there any more was not pruned. */
function changeOf(
  { backends }: EngineContext,
  backend: string,
  thing: MarkedThing,
  failures: ReadonlyMap<MarkedThing, unknown>,
): Change[] {
  const { what } = thing;
  if (!failures.has(thing)) return [{ action: 'removed', what }];
  const error = failures.get(thing);
  return backends.get(backend)!.isAbsent(error) ? [] : [{ action: 'failed', what, error }];
}
