/** When a system is reconciled: at the start, soon again until it is in order, then in intervals and on request. */
import { PodwireError } from '@podwire/errors';
import { type Log, onAbort, Semaphore, withDeadline } from '@podwire/platform';

/** Milliseconds. */
export interface ReconcileTimes {
  /** Between rounds. */
  readonly interval: number;
  /** For one round. */
  readonly deadline: number;
}

/** How the system is by the rounds so far. */
export interface ReconciledState {
  /** The last round that was possible has left it in order. */
  readonly ready: boolean;
  /** Why not; or what is wrong although it is. */
  readonly problem: string | undefined;
}

/** `R` is the report of a round. */
export interface ReconcileLoopOptions<R> extends ReconcileTimes {
  /** One round. Two never run side by side. @throws what made it impossible */
  readonly reconcile: (signal: AbortSignal) => Promise<R>;
  /** Read after each round. */
  readonly state: ReconciledState;
  readonly onReport?: (report: R) => void;
  /** @param duration milliseconds */
  readonly onFailure?: (error: unknown, duration: number) => void;
  /** The reason to give up a round when the loop is stopped. */
  readonly describeStop: () => Error;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly log: Log;
}

/** Milliseconds until the next attempt while the system is not ready, or could not be reconciled: doubling up to the last one. */
const firstRetry = 500;
const lastRetry = 30_000;

/** Reconciles at the start, in intervals and on request. Two rounds never run side by side. */
export class ReconcileLoop<R> {
  /** Resolves with the first round that leaves the system ready; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly #options: ReconcileLoopOptions<R>;
  #times: ReconcileTimes;
  readonly #stopped = new AbortController();
  readonly #rounds = new Semaphore(1);
  #becomeReady: () => void = () => undefined;
  #last: R | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry = firstRetry;
  #current: Promise<void> = Promise.resolve();
  /** When the round under way ends, or the next one begins, at the latest; of the monotonic clock. */
  #expected = Infinity;
  #isStarted = false;
  #isRunning = false;
  #isDue = false;

  constructor(options: ReconcileLoopOptions<R>) {
    this.#options = options;
    this.#times = options;
    this.ready = new Promise<void>((resolve, reject) => {
      this.#becomeReady = resolve;
      onAbort(this.#stopped.signal, reject);
    });
    // A caller that does not wait for it has no use for the rejection.
    this.ready.catch(() => undefined);
  }

  get last(): R | undefined {
    return this.#last;
  }

  /** Begins the first round, before this call returns. */
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
    this.#stopped.abort(this.#options.describeStop());
    await this.#current;
  }

  /** Reconciles now. @throws what made it impossible */
  async run(): Promise<R> {
    try {
      return await this.#runNow();
    } finally {
      // One that was asked for may have left the system otherwise than the timer takes it to be: not ready, say.
      this.#scheduleAnew();
    }
  }

  async #runNow(): Promise<R> {
    const { reconcile, state, onReport, onFailure, elapsed } = this.#options;
    const { deadline } = this.#times;
    const begin = elapsed();
    const reason = (): PodwireError => tooLate(deadline);
    try {
      const report = await withDeadline(
        this.#stopped.signal,
        deadline,
        (signal) => this.#rounds.run(() => reconcile(signal), signal),
        { reason },
      );
      this.#last = report;
      if (state.ready) this.#becomeReady();
      onReport?.(report);
      return report;
    } catch (error) {
      onFailure?.(error, elapsed() - begin);
      throw error;
    }
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
      if (!this.#stopped.signal.aborted) this.#options.log.error({ err }, 'reconcile failed');
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
    const { interval } = this.#times;
    const { ready: isReady, problem } = this.#options.state;
    const isInOrder = isReady && problem === undefined;
    const soon = isReady ? Math.min(this.#retry, interval) : this.#retry;
    const wait = isInOrder ? interval : soon;
    this.#expected = this.#options.elapsed() + wait;
    this.#timer = setTimeout(() => this.#begin(), wait);
    this.#retry = isInOrder ? firstRetry : Math.min(this.#retry * 2, lastRetry);
  }
}

const tooLate = (deadline: number): PodwireError =>
  new PodwireError('DEADLINE_EXCEEDED', `it took longer than ${deadline} ms`);
