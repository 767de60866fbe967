/** When the node is reconciled: at the start, soon again until it is in order, then in intervals and on request. */
import { describeError, PodwireError } from '@podwire/errors';
import { onAbort, Semaphore, withDeadline } from '@podwire/platform';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { reconcile, type ReconcileContext, type ReconcileReport } from './reconcile.js';

/** Milliseconds. */
export interface ReconcileTimes {
  /** Between rounds. */
  readonly interval: number;
  /** For one round. */
  readonly deadline: number;
}

export interface ReconcileLoopOptions extends ReconcileTimes {
  readonly context: ReconcileContext;
  readonly metrics: Metrics;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/** Milliseconds until the next attempt while the agent is not ready, or could not reconcile: doubling up to the last one. */
const firstRetry = 500;
const lastRetry = 30_000;

/** Reconciles at the start, in intervals and on request. Two rounds never run side by side. */
export class ReconcileLoop {
  /** Resolves with the first round that leaves the node in order; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly #options: ReconcileLoopOptions;
  #times: ReconcileTimes;
  readonly #stopped = new AbortController();
  readonly #rounds = new Semaphore(1);
  #becomeReady: () => void = () => undefined;
  #last: ReconcileReport | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry = firstRetry;
  #current: Promise<void> = Promise.resolve();
  /** When the round under way ends, or the next one begins, at the latest; of the monotonic clock. */
  #expected = Infinity;
  #isStarted = false;
  #isRunning = false;
  #isDue = false;
  #isRecovered = false;

  constructor(options: ReconcileLoopOptions) {
    this.#options = options;
    this.#times = options;
    this.ready = new Promise<void>((resolve, reject) => {
      this.#becomeReady = resolve;
      onAbort(this.#stopped.signal, reject);
    });
    // A caller that does not wait for it has no use for the rejection.
    this.ready.catch(() => undefined);
  }

  get last(): ReconcileReport | undefined {
    return this.#last;
  }

  /** Begins the first round, and so takes its place in the queue for the node before this call returns. */
  start(): void {
    this.#isStarted = true;
    this.#begin();
  }

  /**
   * Something has changed that only a reconcile can follow: a round begins now, or right after the one that is under way.
   */
  nudge(): void {
    this.#isDue = true;
    // The first round finds all that has changed before it; one beside it would be followed by rounds of its own for ever.
    if (!this.#isStarted || this.#isRunning || this.#stopped.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#begin();
  }

  /** Reports if rounds begin and end when they should: false when one is stuck beyond its deadline, or none begins. */
  isWorking(): boolean {
    return this.#options.elapsed() <= this.#expected + lastRetry;
  }

  /** Other times from now on; a round that is under way keeps its deadline. */
  setTimes(times: ReconcileTimes): void {
    const isOther = times.interval !== this.#times.interval;
    this.#times = times;
    if (isOther) this.#scheduleAnew();
  }

  /** Ends the rounds, gives up one that is under way, and resolves when it has ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
    await this.#current;
  }

  /**
   * Reconciles now. Until the agent is ready for the first time the node is held for it alone, then requests are served
   * meanwhile.
   * @throws what made it impossible
   */
  async run(): Promise<ReconcileReport> {
    try {
      return await this.#runNow();
    } finally {
      // One that was asked for may have left the node otherwise than the timer takes it to be: not ready, say.
      this.#scheduleAnew();
    }
  }

  async #runNow(): Promise<ReconcileReport> {
    const { context, metrics, elapsed } = this.#options;
    const { deadline } = this.#times;
    const begin = elapsed();
    const reason = (): PodwireError => tooLate(deadline);
    try {
      const report = await withDeadline(
        this.#stopped.signal,
        deadline,
        (signal) => this.#rounds.run(() => this.#reconcileOnce(signal), signal),
        { reason },
      );
      this.#last = report;
      metrics.reconciled(report.duration, report.changes);
      logReport(context.log, report);
      return report;
    } catch (error) {
      context.readiness.problem = describeObstacle(error);
      metrics.reconciled(elapsed() - begin, undefined);
      throw error;
    }
  }

  async #reconcileOnce(signal: AbortSignal): Promise<ReconcileReport> {
    const { context, elapsed } = this.#options;
    if (this.#isRecovered) return reconcile(context, { signal, elapsed, alone: false });
    // Readiness changes while the node is still held: a request that waits for it must find the agent ready.
    const report = await context.locks.withAll(signal, () =>
      reconcile(context, { signal, elapsed, alone: true }),
    );
    if (context.readiness.ready) {
      this.#isRecovered = true;
      this.#becomeReady();
    }
    return report;
  }

  #begin(): void {
    this.#current = this.#runRound();
  }

  async #runRound(): Promise<void> {
    this.#isRunning = true;
    this.#isDue = false;
    this.#expected = this.#options.elapsed() + this.#times.deadline;
    try {
      await this.#runNow();
    } catch (err) {
      if (!this.#stopped.signal.aborted) this.#options.context.log.error({ err }, 'reconcile failed');
    }
    this.#isRunning = false;
    if (this.#isDue && !this.#stopped.signal.aborted) this.#begin();
    else this.#schedule();
  }

  /** Unless a round of the loop's own is under way, which schedules the next one. */
  #scheduleAnew(): void {
    if (!this.#isStarted || this.#isRunning) return;
    clearTimeout(this.#timer);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#stopped.signal.aborted) return;
    const { context } = this.#options;
    const { interval } = this.#times;
    const { ready: isReady, problem } = context.readiness;
    const isInOrder = isReady && problem === undefined;
    const soon = isReady ? Math.min(this.#retry, interval) : this.#retry;
    const wait = isInOrder ? interval : soon;
    this.#expected = this.#options.elapsed() + wait;
    this.#timer = setTimeout(() => this.#begin(), wait);
    this.#retry = isInOrder ? firstRetry : Math.min(this.#retry * 2, lastRetry);
  }
}

/** Describes an obstacle; a part that is not ready does so in its own words. */
function describeObstacle(error: unknown): string {
  const isOwn = error instanceof PodwireError && notReady.has(error.code);
  return isOwn ? describeError(error) : `the node could not be reconciled: ${describeError(error)}`;
}

const notReady: ReadonlySet<string> = new Set(['AGENT_NOT_READY', 'NODE_NAME_TAKEN']);

const tooLate = (deadline: number): PodwireError =>
  new PodwireError('DEADLINE_EXCEEDED', `it took longer than ${deadline} ms`);

function logReport(log: Log, report: ReconcileReport): void {
  const { changes, removed, failures, duration } = report;
  const facts = {
    ms: Math.round(duration * 10) / 10,
    changes: changes.length,
    removed: removed.length,
    failures,
  };
  if (failures.length > 0) log.error(facts, 'reconciled with failures');
  else if (changes.length + removed.length > 0) log.info(facts, 'reconciled');
  else log.debug(facts, 'reconciled');
  for (const { owner, pod, action, what, gap, error } of changes)
    log.info({ owner, pod, action, what, gap, err: error }, 'changed');
}
