import type { Clock } from './contract.js';

/**
 * Elapsed time by a wall clock that may be set back: a step back counts as no time at all, so cool-downs neither end
 * early nor last for the length of the step.
 */
export class Stopwatch {
  readonly #clock: Clock;
  /** Milliseconds since the epoch at the last {@link read}. */
  wall: number;
  /** Milliseconds since the start, never less than before. */
  elapsed = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.wall = clock();
  }

  read(): void {
    const now = this.#clock();
    if (now > this.wall) this.elapsed += now - this.wall;
    this.wall = now;
  }
}
