import { type Clock, Heap } from '@podwire/platform';

interface Timer {
  readonly time: number;
  readonly call: () => void;
  cancelled: boolean;
}

/** Calls at given times, with one timer for all of them and none while the queue is empty. */
export class TimerQueue {
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>;
  readonly #heap = new Heap<Timer>((a, b) => a.time < b.time);
  #sleeping: { readonly until: number; readonly controller: AbortController } | undefined;

  constructor(clock: Pick<Clock, 'elapsed' | 'sleep'>) {
    this.#clock = clock;
  }

  /** @param time milliseconds, of `clock.elapsed()`. @returns cancels it */
  at(time: number, call: () => void): () => void {
    const timer: Timer = { time, call, cancelled: false };
    this.#heap.push(timer);
    this.#sleepUntilNext();
    return () => {
      timer.cancelled = true;
    };
  }

  close(): void {
    this.#heap.retain(() => false);
    this.#sleeping?.controller.abort();
    this.#sleeping = undefined;
  }

  #next(): Timer | undefined {
    while (this.#heap.first?.cancelled === true) this.#heap.pop();
    return this.#heap.first;
  }

  #wake(): void {
    this.#sleeping = undefined;
    const now = this.#clock.elapsed();
    for (let next = this.#next(); next !== undefined && next.time <= now; next = this.#next()) {
      this.#heap.pop();
      next.call();
    }
    this.#sleepUntilNext();
  }

  #sleepUntilNext(): void {
    const next = this.#next();
    if (next === undefined || (this.#sleeping !== undefined && this.#sleeping.until <= next.time)) return;
    this.#sleeping?.controller.abort();
    const controller = new AbortController();
    this.#sleeping = { until: next.time, controller };
    const delay = Math.max(0, next.time - this.#clock.elapsed());
    this.#clock.sleep(delay, controller.signal).then(
      () => this.#wake(),
      () => undefined,
    );
  }
}
