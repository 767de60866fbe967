/** Changes the system: what goes, what changes and what comes, all of it or nothing. See `Engine.change`. */
import { describeError, PodwireError } from '@podwire/errors';
import { type BatchTimer, type EngineContext, type Sessions, startTimer, withSessions } from './call.js';
import { invertChange, planChange, type PlannedChange, type Step } from './change-plan.js';
import type { Batch, Failure, Owned } from './contract.js';
import type { CallOptions, ChangeSet, Owner } from './engine.js';
import { refusal, throwIfExpired } from './refusal.js';
import { withoutAgreeing } from './verify.js';

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
  if (replace.length + add.length === 0) return carryThrough(context, owned, planned, options);
  const done: Step[] = [];
  try {
    await withSessions(context, owned, options.signal, async (sessions) =>
      carryOut(context, sessions, { owned, planned, done }, options),
    );
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
async function carryThrough(
  context: EngineContext,
  owned: Owned,
  planned: PlannedChange,
  options: CallOptions,
): Promise<void> {
  const failures = await withSessions(context, owned, options.signal, async (sessions) =>
    carryOutAsFarAsPossible(context, sessions, planned, options),
  );
  if (failures.length > 0) throw incomplete(context, owned, failures);
  context.faults.reach('remove:end');
}

interface Work {
  readonly owned: Owned;
  readonly planned: PlannedChange;
  /** Takes each step that may have changed something. */
  readonly done: Step[];
}

async function carryOut(
  context: EngineContext,
  sessions: Sessions,
  { owned, planned, done }: Work,
  options: CallOptions,
): Promise<void> {
  const timers = startTimers(context, options);
  for (const [number, step] of planned.steps.entries()) {
    reachPoint(context, number, step);
    throwIfExpired(context, options.signal, step.batch.resources[0]);
    // A step that throws may have been carried out, in part or as a whole.
    done.push(step);
    const calling = callBackend(context, sessions, step);
    prepareNext(sessions, step, planned.steps[number + 1]);
    const failures = await calling;
    if (failures.length > 0) {
      done[done.length - 1] = withoutFailed(step, failures);
      throw refusal(context, owned.owner, failures);
    }
    timers.lap(number, step);
  }
  context.faults.reach(planned.steps.every(({ action }) => action === 'add') ? 'apply:end' : 'change:end');
}

async function carryOutAsFarAsPossible(
  context: EngineContext,
  sessions: Sessions,
  { steps }: PlannedChange,
  options: CallOptions,
): Promise<Failure[]> {
  const timers = startTimers(context, options);
  const failures: Failure[] = [];
  const finish = async (number: number, step: Step, call: Call): Promise<void> => {
    failures.push(...(await orFailed(step, call)));
    timers.lap(number, step);
  };
  const started: (() => Promise<void>)[] = [];
  for (const [number, step] of steps.entries()) {
    reachPoint(context, number, step);
    const mayGoOn = step.action === 'remove' && sessions.of(step.batch.backend).startsRemovals;
    if (!mayGoOn) await finish(number, step, async () => callBackend(context, sessions, step));
    else {
      const rest = await startRemoval(context, sessions, step.batch);
      started.push(async () => finish(number, step, rest));
    }
  }
  for (const wait of started) await wait();
  return failures;
}

type Call = () => Promise<readonly Failure[]>;

/** The backend of the next step gets ready while this step waits for its own. */
function prepareNext(sessions: Sessions, { batch }: Step, next: Step | undefined): void {
  if (next?.action === 'add' && next.batch.backend !== batch.backend)
    sessions.of(next.batch.backend).prepare(next.batch);
}

/** Fault tests end the process here. */
function reachPoint({ faults }: EngineContext, number: number, { action, batch }: Step): void {
  faults.reach(`${action === 'add' ? 'apply' : action}:${number}:${batch.resources[0]?.kind}`);
}

interface StepTimers {
  lap(number: number, step: Step): void;
}

function startTimers({ now }: EngineContext, { trace }: CallOptions): StepTimers {
  const apply: BatchTimer = startTimer(now, 'apply', trace);
  const remove: BatchTimer = startTimer(now, 'remove', trace);
  return {
    lap(number, { action, batch, gone }) {
      (action === 'remove' ? remove : apply).lap(number, batch.resources);
      if (gone.length > 0) remove.lap(number, gone);
    },
  };
}

/** A transaction that was refused has changed nothing; a batch has changed all but what failed. */
function withoutFailed(step: Step, failures: readonly Failure[]): Step {
  const isExchange = step.action === 'exchange';
  const failed = new Set(failures.map(({ resource }) => resource));
  const resources = isExchange ? [] : step.batch.resources.filter((one) => !failed.has(one));
  return { ...step, batch: { ...step.batch, resources }, ...(isExchange ? { before: [], gone: [] } : {}) };
}

/** Failures that count: a thing that is there already, just as wanted, is none, nor is a thing that is gone already. */
async function callBackend(
  context: EngineContext,
  sessions: Sessions,
  step: Step,
): Promise<readonly Failure[]> {
  const session = sessions.of(step.batch.backend);
  const { batch } = step;
  switch (step.action) {
    case 'remove':
      return removeBatch(context, sessions, batch);
    case 'add':
      return withoutAgreeing(context, sessions, await session.create(batch));
    case 'replace': {
      const repairs = batch.resources.map((resource) => ({ resource, action: 'replace' }) as const);
      return session.repair(batch, repairs);
    }
    case 'exchange':
      return exchange(context, sessions, step);
  }
}

/** Once more where something that was to come is there already, just as wanted: after a crash, or by repair. */
async function exchange(
  context: EngineContext,
  sessions: Sessions,
  { batch, fresh, gone }: Step,
): Promise<readonly Failure[]> {
  const session = sessions.of(batch.backend);
  const isFresh = new Set(fresh);
  const put = async (): Promise<readonly Failure[]> =>
    session.exchange({
      add: batch.resources.filter((one) => isFresh.has(one)),
      replace: batch.resources.filter((one) => !isFresh.has(one)),
      remove: gone,
    });
  const failures = await put();
  if (failures.length === 0 || fresh.length === 0) return failures;
  const failed = failures.filter(({ resource }) => isFresh.has(resource));
  const serious = new Set(await withoutAgreeing(context, sessions, failed));
  const agreeing = failed.filter((failure) => !serious.has(failure));
  if (agreeing.length === 0) return failures;
  for (const { resource } of agreeing) isFresh.delete(resource);
  return put();
}

async function orFailed({ batch }: Step, call: Call): Promise<readonly Failure[]> {
  try {
    return await call();
  } catch (error) {
    return failAll(batch, error);
  }
}

const failAll = ({ resources }: Batch, error: unknown): Failure[] =>
  resources.map((resource) => ({ resource, error }));

/** Resources of a place that is gone have gone with it. */
async function removeBatch(context: EngineContext, sessions: Sessions, batch: Batch): Promise<Failure[]> {
  const session = sessions.of(batch.backend);
  if (!(await session.reaches(batch.place))) return [];
  return withoutAbsent(context, batch, await session.remove(batch));
}

/** @returns how to wait for its end; it may not have begun */
async function startRemoval(context: EngineContext, sessions: Sessions, batch: Batch): Promise<Call> {
  const session = sessions.of(batch.backend);
  try {
    if (!(await session.reaches(batch.place))) return () => Promise.resolve([]);
    const wait = await session.startRemoval(batch);
    return async () => withoutAbsent(context, batch, await wait());
  } catch (error) {
    return () => Promise.resolve(failAll(batch, error));
  }
}

function withoutAbsent(
  { backends }: EngineContext,
  { backend }: Batch,
  failures: readonly Failure[],
): Failure[] {
  const known = backends.get(backend)!;
  return failures.filter(({ error }) => !known.isAbsent(error));
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
    await carryThrough(context, owned, inverse, { signal: AbortSignal.timeout(UNDO_DEADLINE) });
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
