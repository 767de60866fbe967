/** Carries out the steps of a change: up to the first failure, or all that can be done. */
import { type EngineContext, type Sessions, startTimer } from './call.js';
import type { Step } from './change-plan.js';
import type { Batch, Failure, OwnerId, Repair, Resource } from './contract.js';
import type { CallOptions } from './engine.js';
import { refusal, throwIfExpired } from './refusal.js';
import { withoutAgreeing } from './verify.js';

export interface Work {
  readonly owner: OwnerId;
  readonly steps: readonly Step[];
  /** Takes each step that may have changed something. */
  readonly done: Step[];
}

/** Ends at the first step that has failures. @throws PodwireError for these */
export async function carryOut(
  context: EngineContext,
  sessions: Sessions,
  { owner, steps, done }: Work,
  options: CallOptions,
): Promise<void> {
  const timers = startTimers(context, options);
  for (const [number, step] of steps.entries()) {
    reachPoint(context, number, step);
    throwIfExpired(context, options.signal, step.batch.resources[0]);
    // A step that throws may have been carried out, in part or as a whole.
    done.push(step);
    const calling = callBackend(context, sessions, step);
    prepareNext(sessions, step, steps[number + 1]);
    const failures = await calling;
    if (failures.length > 0) {
      done[done.length - 1] = withoutFailed(step, failures);
      throw refusal(context, owner, failures);
    }
    timers.lap(number, step);
  }
}

export interface ThroughOptions extends CallOptions {
  /** Resources that are known not to be as wanted and stay so. What needs them is not made. */
  readonly failed?: readonly Failure[];
  /** Errors of a call that cost only what is in the call; any when absent. Others are thrown. */
  readonly costsOneCall?: (error: unknown) => boolean;
}

/** Goes on after failures: one keeps back only what needs the thing that has failed. @returns the failures */
export async function carryThrough(
  context: EngineContext,
  sessions: Sessions,
  steps: readonly Step[],
  options: ThroughOptions,
): Promise<readonly Failure[]> {
  const timers = startTimers(context, options);
  const obstacles = new Obstacles(context, options.failed ?? []);
  const failures: Failure[] = [];
  const finish = async (number: number, step: Step, call: Call): Promise<void> => {
    const failed = await orFailed(step.batch.resources, call, options);
    failures.push(...failed);
    if (step.action !== 'remove') obstacles.note(failed);
    timers.lap(number, step);
  };
  const started: (() => Promise<void>)[] = [];
  for (const [number, planned] of steps.entries()) {
    const kept = mayWait(planned) ? obstacles.keepBack(planned.batch.resources) : [];
    failures.push(...kept);
    const step = withoutFailed(planned, kept);
    if (step.batch.resources.length === 0) continue;
    reachPoint(context, number, step);
    const mayGoOn = step.action === 'remove' && sessions.of(step.batch.backend).startsRemovals;
    if (!mayGoOn) await finish(number, step, async () => callBackend(context, sessions, step));
    else {
      const rest = await startRemoval(context, sessions, step.batch, options);
      started.push(async () => finish(number, step, rest));
    }
  }
  for (const wait of started) await wait();
  return failures;
}

/** Whatever comes in a transaction does so together with what goes. */
const mayWait = ({ action }: Step): boolean => action !== 'remove' && action !== 'exchange';

type Call = () => Promise<readonly Failure[]>;

/** Resources that are not there as wanted and could not be made so, and what must wait for them. */
class Obstacles {
  readonly #context: EngineContext;
  readonly #byKey = new Map<string, unknown>();

  constructor(context: EngineContext, failures: readonly Failure[]) {
    this.#context = context;
    this.note(failures);
  }

  note(failures: readonly Failure[]): void {
    for (const { resource, error } of failures)
      for (const key of this.#context.kinds.carriedBy(resource)) this.#byKey.set(key, error);
  }

  /** Those that need something that has failed fail with it, and so does what needs them. */
  keepBack(resources: readonly Resource[]): readonly Failure[] {
    if (this.#byKey.size === 0) return [];
    return resources.flatMap((resource): Failure[] => {
      const obstacle = this.#context.kinds.needsOf(resource).find((key) => this.#byKey.has(key));
      if (obstacle === undefined) return [];
      const failure = { resource, error: this.#byKey.get(obstacle) };
      this.note([failure]);
      return [failure];
    });
  }
}

/** The backend of the next step gets ready while this step waits for its own. */
function prepareNext(sessions: Sessions, { batch }: Step, next: Step | undefined): void {
  if (next?.action === 'add' && next.batch.backend !== batch.backend)
    sessions.of(next.batch.backend).prepare(next.batch);
}

/** Fault tests end the process here. */
function reachPoint({ faults }: EngineContext, number: number, { action, batch, fresh }: Step): void {
  const [first] = batch.resources;
  const way = fresh.includes(first!) ? 'add' : 'replace';
  faults.reach(`${action === 'add' ? 'apply' : action}:${action === 'repair' ? way : number}:${first?.kind}`);
}

interface StepTimers {
  lap(number: number, step: Step): void;
}

function startTimers({ now }: EngineContext, { trace }: CallOptions): StepTimers {
  const apply = startTimer(now, 'apply', trace);
  const remove = startTimer(now, 'remove', trace);
  return {
    lap(number, { action, batch, gone }) {
      (action === 'remove' ? remove : apply).lap(number, batch.resources);
      if (gone.length > 0) remove.lap(number, gone);
    },
  };
}

/** A transaction that was refused has changed nothing; a batch has changed all but what failed. */
function withoutFailed(step: Step, failures: readonly Failure[]): Step {
  if (failures.length === 0) return step;
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
  const { batch, fresh } = step;
  switch (step.action) {
    case 'remove':
      return removeBatch(context, sessions, batch);
    case 'add':
      return withoutAgreeing(context, sessions, await session.create(batch));
    case 'replace':
    case 'repair': {
      const isFresh = new Set(fresh);
      const repairs = batch.resources.map((resource): Repair => {
        return { resource, action: isFresh.has(resource) ? 'add' : 'replace' };
      });
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

/** An error of the whole call is one of each of these resources. @throws what costs more than the call */
export async function orFailed(
  resources: readonly Resource[],
  call: Call,
  { costsOneCall = () => true }: Pick<ThroughOptions, 'costsOneCall'>,
): Promise<readonly Failure[]> {
  try {
    return await call();
  } catch (error) {
    if (!costsOneCall(error)) throw error;
    return resources.map((resource) => ({ resource, error }));
  }
}

/** Resources of a place that is gone have gone with it. */
async function removeBatch(context: EngineContext, sessions: Sessions, batch: Batch): Promise<Failure[]> {
  const session = sessions.of(batch.backend);
  if (!(await session.reaches(batch.place))) return [];
  return withoutAbsent(context, batch, await session.remove(batch));
}

/** @returns how to wait for its end; it may not have begun @throws what costs more than the call */
async function startRemoval(
  context: EngineContext,
  sessions: Sessions,
  batch: Batch,
  { costsOneCall = () => true }: Pick<ThroughOptions, 'costsOneCall'>,
): Promise<Call> {
  const session = sessions.of(batch.backend);
  try {
    if (!(await session.reaches(batch.place))) return () => Promise.resolve([]);
    const wait = await session.startRemoval(batch);
    return async () => withoutAbsent(context, batch, await wait());
  } catch (error) {
    if (!costsOneCall(error)) throw error;
    const failures = batch.resources.map((resource) => ({ resource, error }));
    return () => Promise.resolve(failures);
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
