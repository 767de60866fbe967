import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import type { EngineContext } from './context.js';
import type { CallOptions, Owned } from './engine.js';
import { compareResource, describeResource } from './providers/index.js';
import { removeResources } from './remove.js';
import type { LinkReaper } from './reaper.js';
import type { Resource } from './resource.js';
import type { View } from './observe.js';
import { openView } from './view.js';
import { openSession } from './session.js';
import { planSteps } from './steps.js';
import type { Failure } from './failure.js';
import { runStep } from './run-step.js';
import { startTimer } from './timer.js';

/** Applies a list, all or nothing; see `Engine.apply`. */
export async function applyResources(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  options: CallOptions,
): Promise<void> {
  const applied: Resource[] = [];
  try {
    await applyInOrder(context, reaper, owned, options, applied);
  } catch (error) {
    throw await takeBack(context, reaper, { ...owned, resources: applied }, error);
  }
}

async function applyInOrder(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  options: CallOptions,
  applied: Resource[],
): Promise<void> {
  const session = openSession(context.kernel, owned);
  const timer = startTimer(context.now, 'apply', options.trace);
  try {
    for (const [number, step] of planSteps(owned.resources, context.single).entries()) {
      context.faults.reach(`apply:${number}:${step.resources[0]?.kind}`);
      throwIfExpired(options.signal, step.resources[0]);
      const failures = await runStep(step, session, options.signal, 'create');
      const view = openView(session); // of all failures: it reads nothing before it is asked, and each thing once
      const serious = failures.filter((failure) => !isTakenOver(failure, view));
      applied.push(...without(step.resources, serious));
      timer.lap(number, step.resources);
      if (serious.length > 0) throw refusal(owned, serious);
    }
    context.faults.reach('apply:end');
  } finally {
    session.close();
  }
}

function throwIfExpired(signal: AbortSignal, next: Resource | undefined): void {
  if (!signal.aborted) return;
  const before = next === undefined ? '' : ` before ${describeResource(next)}`;
  throw new PodwireError('DEADLINE_EXCEEDED', `the call was given up${before}`, { cause: signal.reason });
}

/** Something of that identity is there already and is just what the list asks for: after a crash, or by repair. */
function isTakenOver(failure: Failure, view: View): boolean {
  return hasCode(failure.error, 'EEXIST') && compareResource(failure.resource, view) === undefined;
}

function without(resources: readonly Resource[], failures: readonly Failure[]): Resource[] {
  const failed = new Set(failures.map((failure) => failure.resource));
  return resources.filter((resource) => !failed.has(resource));
}

function refusal(owned: Owned, failures: readonly Failure[]): PodwireError {
  const [first] = failures;
  if (first?.error instanceof PodwireError) return first.error;
  const distinct = failures.filter(
    ({ error }, index) => failures.findIndex((other) => other.error === error) === index,
  );
  const words = distinct.map(
    ({ resource, error }) => `${describeResource(resource)}: ${describeError(error)}`,
  );
  return new PodwireError('KERNEL_REFUSED', `${owned.owner}: ${words.join('; ')}`, { cause: first?.error });
}

/** Removes what was applied, with a deadline of its own: the caller's may be what has run out. */
async function takeBack(
  context: EngineContext,
  reaper: LinkReaper,
  applied: Owned,
  error: unknown,
): Promise<unknown> {
  try {
    await removeResources(context, reaper, applied, { signal: AbortSignal.timeout(ROLLBACK_DEADLINE) });
    return error;
  } catch (leftover) {
    const message = `${describeError(error)}; and taking it back failed: ${describeError(leftover)}`;
    return new PodwireError('REMOVE_INCOMPLETE', message, { cause: new AggregateError([error, leftover]) });
  }
}

/** milliseconds */
const ROLLBACK_DEADLINE = 10_000;
