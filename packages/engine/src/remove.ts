import { describeError, PodwireError } from '@podwire/errors';
import { groupBy } from '@podwire/platform';
import { type EngineContext, type Sessions, startTimer, withSessions } from './call.js';
import type { Batch, Failure, Owned, Resource } from './contract.js';
import type { CallOptions } from './engine.js';
import { planBatches, planRemoval } from './steps.js';

/** Removes a list; see `Engine.remove`. Goes on after errors and throws them together. */
export async function removeResources(
  context: EngineContext,
  owned: Owned,
  options: CallOptions,
): Promise<void> {
  await withSessions(context, owned, async (sessions) => {
    const failures = await removeWithin(context, sessions, owned, options);
    if (failures.length > 0) throw incomplete(context, owned, failures);
    context.faults.reach('remove:end');
  });
}

async function removeWithin(
  context: EngineContext,
  sessions: Sessions,
  owned: Owned,
  options: CallOptions,
): Promise<Failure[]> {
  const { kinds, faults } = context;
  const timer = startTimer(context.now, 'remove', options.trace);
  const { explicit, deferred } = planRemoval(kinds, owned.resources);
  const batches = planBatches(kinds, reachable(context, sessions, explicit), context.single);
  const failures: Failure[] = [];
  for (const [number, batch] of batches.entries()) {
    faults.reach(`remove:${number}:${batch.resources[0]?.kind}`);
    failures.push(...(await removeBatch(context, sessions, batch, options)));
    timer.lap(number, batch.resources);
  }
  for (const [backend, resources] of groupBy(deferred, (resource) => kinds.of(resource).backend)) {
    const first = kinds.of(resources[0]!);
    const batch = { backend, name: first.batch, place: first.place(resources[0]!), resources };
    faults.reach(`remove:${batches.length}:${resources[0]!.kind}`);
    failures.push(...(await removeBatch(context, sessions, batch, options)));
    timer.lap(batches.length, resources);
  }
  return failures;
}

/** What was in a place that is gone has gone with it. */
function reachable({ kinds }: EngineContext, sessions: Sessions, resources: readonly Resource[]): Resource[] {
  return resources.filter((resource) => {
    const kind = kinds.of(resource);
    return sessions.of(kind.backend).reaches(kind.place(resource));
  });
}

/** What is not there need not be removed. */
async function removeBatch(
  { backends }: EngineContext,
  sessions: Sessions,
  batch: Batch,
  options: CallOptions,
): Promise<Failure[]> {
  const backend = backends.get(batch.backend)!;
  const failures = await sessions.of(batch.backend).remove(batch, options);
  return failures.filter(({ error }) => !backend.isAbsent(error));
}

function incomplete({ kinds }: EngineContext, owned: Owned, failures: readonly Failure[]): PodwireError {
  const words = failures.map(({ resource, error }) => `${kinds.describe(resource)}: ${describeError(error)}`);
  const errors = new AggregateError(failures.map((failure) => failure.error));
  return new PodwireError('REMOVE_INCOMPLETE', `${owned.owner}: ${words.join('; ')}`, { cause: errors });
}
