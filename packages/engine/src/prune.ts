import { setImmediate } from 'node:timers/promises';
import { type EngineContext, type Sessions, type Snapshots, withSessions } from './call.js';
import type { MarkedThing, Owned } from './contract.js';
import type { Change } from './engine.js';

/** Things in one call: other work gets its turn every few milliseconds, also when thousands have to go. */
const BATCH = 512;

/**
 * Takes away what carries Podwire's mark and is in no list: the leftovers of a process that lost its records. Never
 * looks at anything without the mark. The last backend begins: what it has refers to what earlier ones have.
 * @param snapshots what was there before anything was repaired: what was made since is wanted
 */
export async function pruneLeftovers(
  context: EngineContext,
  desired: readonly Owned[],
  snapshots: Snapshots,
): Promise<Change[]> {
  const resources = desired.flatMap((owned) => owned.resources);
  const wanted = new Set(resources.map((resource) => context.kinds.keyOf(resource)));
  const leftovers = { owner: 'leftovers', resources: [] };
  return withSessions(context, leftovers, async (sessions) => {
    const changes: Change[] = [];
    for (const name of [...context.backends.keys()].reverse()) {
      const marked = await sessions.of(name).listMarked?.(resources, snapshots.get(name));
      const unwanted = marked?.filter(({ key }) => !wanted.has(key)) ?? [];
      changes.push(...(await pruneAll(context, sessions, name, unwanted)));
      const { queues, backends } = context;
      for (const batch of backends.get(name)!.deferred?.list() ?? []) queues.get(name)!.adopt(batch);
    }
    return changes;
  });
}

async function pruneAll(
  context: EngineContext,
  sessions: Sessions,
  backend: string,
  things: readonly MarkedThing[],
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const batch of inBatches(things, context.single ? 1 : BATCH)) {
    context.faults.reach(`prune:${sortOf(batch[0]!)}`);
    const failures = await sessions.of(backend).prune!(batch);
    for (const thing of batch) changes.push(...changeOf(context, backend, thing, failures));
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

/** What is not there any more was not pruned. */
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
