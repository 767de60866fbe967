/** Waiting for changes, and for them to calm down. */
import { Notify } from '@podwire/platform';
import type { Clock } from '../contract.js';

/** A program that writes a file truncates it, writes, and perhaps writes again, all within a millisecond or two. */
const quiet = 2;
/** A file that is written all the time is read nevertheless. */
const mostQuiets = 5;

export class Trigger {
  readonly #clock: Clock;
  readonly #notify = new Notify();
  #count = 0;
  #firstAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** May be passed as a listener. */
  readonly fire = (): void => {
    this.#count += 1;
    this.#firstAt ??= this.#clock.now();
    this.#notify.notify();
  };

  /** @returns when it fired first since it was taken last, milliseconds since the epoch */
  take(): number | undefined {
    const at = this.#firstAt;
    this.#firstAt = undefined;
    this.#notify.clear();
    return at;
  }

  /**
   * Returns after so many milliseconds. If it fires before, returns when it has not fired for two milliseconds, after ten at
   * the latest. @throws the signal's reason while it waits for the quiet
   */
  async settled(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!(await this.#notify.notifiedWithin(milliseconds, this.#clock, signal))) return;
    for (let round = 0; round < mostQuiets; round++) {
      const before = this.#count;
      await this.#clock.sleep(quiet, signal);
      if (this.#count === before) return;
    }
  }
}
