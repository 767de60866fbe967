/** A limit of requests: so many at once, and so many in a second after that. */
import type { Clock } from '@podwire/platform';

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export class RateLimit {
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>;
  readonly #interval: number;
  readonly #burst: number;
  /** Elapsed time at which the next one is due where all come in even steps. */
  #due = -Infinity;

  constructor(clock: Pick<Clock, 'elapsed' | 'sleep'>, { perSecond, burst }: Rate) {
    this.#clock = clock;
    this.#interval = 1_000 / perSecond;
    this.#burst = burst;
  }

  /** Until the next one may be made. @throws the signal's reason */
  async wait(signal: AbortSignal): Promise<void> {
    const now = this.#clock.elapsed();
    const due = Math.max(this.#due, now - (this.#burst - 1) * this.#interval);
    this.#due = due + this.#interval;
    if (due > now) await this.#clock.sleep(due - now, signal);
  }
}
