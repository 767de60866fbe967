/** Changes the system: what goes, what changes and what comes, all of it or nothing. See `Engine.change`. */
import { describeError, PodwireError } from '@podwire/errors';
import { type EngineContext, withSessions } from './call.js';
import { carryOut, carryThrough } from './carry-out.js';
import { invertChange, planChange, type PlannedChange, type Step } from './change-plan.js';
import type { Failure, Owned } from './contract.js';
import type { CallOptions, ChangeSet, Owner } from './engine.js';

/** milliseconds */
const UNDO_DEADLINE = 10_000;

export async function changeResources(
  context: EngineContext,
  owner: Owner,
  change: ChangeSet,
  options: CallOptions,
): Promise<void> {
  const { remove = [], replace = [], add = [] } = change;
  const owned: Owned = { ...owner, resources: [...remove, ...replace, ...add] };
  const planned = planChange(context.kinds, change, context.single);
  if (replace.length + add.length === 0) return finishChange(context, owned, planned, options);
  const { steps } = planned;
  const done: Step[] = [];
  try {
    await withSessions(context, owned, options.signal, async (sessions) =>
      carryOut(context, sessions, { owner: owned.owner, steps, done }, options),
    );
    context.faults.reach(steps.every(({ action }) => action === 'add') ? 'apply:end' : 'change:end');
  } catch (error) {
    const inverse = planChange(
      context.kinds,
      invertChange(context.kinds, change, planned, done),
      context.single,
    );
    throw await takeBack(context, owned, inverse, error);
  }
}

/** Goes on after errors and throws them together: a removal, or the way back from a change. */
async function finishChange(
  context: EngineContext,
  owned: Owned,
  { steps }: PlannedChange,
  options: CallOptions,
): Promise<void> {
  const failures = await withSessions(context, owned, options.signal, async (sessions) =>
    carryThrough(context, sessions, steps, options),
  );
  if (failures.length > 0) throw incomplete(context, owned, failures);
  context.faults.reach('remove:end');
}

/**
 * Carries out the inverse, with a deadline of its own: the caller's may be what has run out.
 * @returns the error to throw: the one that was given, or one that also names what could not be taken back
 */
async function takeBack(
  context: EngineContext,
  owned: Owned,
  inverse: PlannedChange,
  error: unknown,
): Promise<unknown> {
  try {
    await finishChange(context, owned, inverse, { signal: AbortSignal.timeout(UNDO_DEADLINE) });
    return error;
  } catch (leftover) {
    const message = `${describeError(error)}; and taking it back failed: ${describeError(leftover)}`;
    return new PodwireError('REMOVE_INCOMPLETE', message, { cause: new AggregateError([error, leftover]) });
  }
}

function incomplete({ kinds }: EngineContext, owned: Owned, failures: readonly Failure[]): PodwireError {
  const words = failures.map(({ resource, error }) => `${kinds.describe(resource)}: ${describeError(error)}`);
  const errors = new AggregateError(failures.map((failure) => failure.error));
  return new PodwireError('REMOVE_INCOMPLETE', `${owned.owner}: ${words.join('; ')}`, { cause: errors });
}
