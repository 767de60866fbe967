import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import type { EngineContext } from './context.js';
import type { CallOptions, Owned } from './engine.js';
import { describeResource } from './providers/index.js';
import { doomLinks } from './doom.js';
import type { LinkReaper } from './reaper.js';
import type { Failure } from './failure.js';
import { undoStep } from './run-step.js';
import { openSession, type Session } from './session.js';
import { planRemoval, planSteps, sideOf } from './steps.js';
import { startTimer } from './timer.js';

/** Removes a list; see `Engine.remove`. Goes on after errors and throws them together. */
export async function removeResources(
  context: EngineContext,
  reaper: LinkReaper,
  owned: Owned,
  options: CallOptions,
): Promise<void> {
  const session = openSession(context.kernel, owned);
  try {
    const failures = await removeWithin(context, reaper, session, owned, options);
    if (failures.length > 0) throw incomplete(owned, failures);
    context.faults.reach('remove:end');
  } finally {
    session.close();
  }
}

async function removeWithin(
  context: EngineContext,
  reaper: LinkReaper,
  session: Session,
  owned: Owned,
  options: CallOptions,
): Promise<Failure[]> {
  const timer = startTimer(context.now, 'remove', options.trace);
  const { explicit, links } = planRemoval(owned.resources);
  const reachable = explicit.filter((resource) => sideOf(resource) === 'host' || session.reachesPod());
  const steps = planSteps(reachable, context.single);
  const failures: Failure[] = [];
  for (const [number, step] of steps.entries()) {
    context.faults.reach(`remove:${number}:${step.resources[0]?.kind}`);
    failures.push(...(await undoStep(step, session, options.signal)).filter(isSerious));
    timer.lap(number, step.resources);
  }
  if (links.length === 0) return failures;
  failures.push(...doomLinks(context, reaper, session, links));
  timer.lap(steps.length, links);
  return failures;
}

/** What is not there need not be removed. */
function isSerious(failure: Failure): boolean {
  return !hasCode(failure.error, 'ENOENT', 'ESRCH', 'ENODEV', 'EADDRNOTAVAIL');
}

function incomplete(owned: Owned, failures: readonly Failure[]): PodwireError {
  const words = failures.map(
    ({ resource, error }) => `${describeResource(resource)}: ${describeError(error)}`,
  );
  const errors = new AggregateError(failures.map((failure) => failure.error));
  return new PodwireError('REMOVE_INCOMPLETE', `${owned.owner}: ${words.join('; ')}`, { cause: errors });
}
