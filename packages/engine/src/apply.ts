import { describeError, PodwireError } from '@podwire/errors';
import { type EngineContext, type Sessions, startTimer, withSessions } from './call.js';
import type { Failure, Owned, Resource } from './contract.js';
import type { CallOptions } from './engine.js';
import { refusal, throwIfExpired } from './refusal.js';
import { removeResources } from './remove.js';
import { planBatches } from './steps.js';
import { withoutAgreeing } from './verify.js';

/** Applies a list, all or nothing; see `Engine.apply`. */
export async function applyResources(
  context: EngineContext,
  owned: Owned,
  options: CallOptions,
): Promise<void> {
  const applied: Resource[] = [];
  try {
    await withSessions(context, owned, async (sessions) =>
      applyInOrder(context, sessions, owned, options, applied),
    );
  } catch (error) {
    throw await rollBack(context, { ...owned, resources: applied }, error);
  }
}

async function applyInOrder(
  context: EngineContext,
  sessions: Sessions,
  owned: Owned,
  options: CallOptions,
  applied: Resource[],
): Promise<void> {
  const timer = startTimer(context.now, 'apply', options.trace);
  for (const [number, batch] of planBatches(context.kinds, owned.resources, context.single).entries()) {
    context.faults.reach(`apply:${number}:${batch.resources[0]?.kind}`);
    throwIfExpired(context, options.signal, batch.resources[0]);
    const failures = await sessions.of(batch.backend).create(batch, options);
    const serious = failures.length === 0 ? [] : await withoutAgreeing(context, sessions, failures);
    applied.push(...without(batch.resources, serious));
    timer.lap(number, batch.resources);
    if (serious.length > 0) throw refusal(context, owned.owner, serious);
  }
  context.faults.reach('apply:end');
}

function without(resources: readonly Resource[], failures: readonly Failure[]): readonly Resource[] {
  if (failures.length === 0) return resources;
  const failed = new Set(failures.map((failure) => failure.resource));
  return resources.filter((resource) => !failed.has(resource));
}

/** Removes what was applied, with a deadline of its own: the caller's may be what has run out. */
async function rollBack(context: EngineContext, applied: Owned, error: unknown): Promise<unknown> {
  try {
    await removeResources(context, applied, { signal: AbortSignal.timeout(ROLLBACK_DEADLINE) });
    return error;
  } catch (leftover) {
    const message = `${describeError(error)}; and taking it back failed: ${describeError(leftover)}`;
    return new PodwireError('REMOVE_INCOMPLETE', message, { cause: new AggregateError([error, leftover]) });
  }
}

/** milliseconds */
const ROLLBACK_DEADLINE = 10_000;
