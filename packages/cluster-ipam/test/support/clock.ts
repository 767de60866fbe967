import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@podwire/rim';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that the test moves; the wall can be set apart from it. */
export class TestClock implements Clock {
  #elapsed = 0;
  #sleepers = new Set<Sleeper>();
  /** Milliseconds that the wall is ahead. */
  skew = 1_700_000_000_000;

  now(): number {
    return this.#elapsed + this.skew;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', stop);
      };
      const stop = (): void => {
        end();
        reject(signal.reason as Error);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper = { at: this.#elapsed + Math.max(0, milliseconds), wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** Lets everything happen that can happen now. */
  async settle(turns = 3): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await setImmediate();
  }

  /** Lets time pass; whoever sleeps wakes in order. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#elapsed + milliseconds;
    await this.settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#elapsed = next;
      for (const sleeper of [...this.#sleepers]) if (sleeper.at <= next) sleeper.wake();
      await this.settle(2);
    }
    this.#elapsed = end;
    await this.settle();
  }

  #next(end: number): number | undefined {
    const first = Math.min(...[...this.#sleepers].map(({ at }) => at));
    return first <= end ? Math.max(first, this.#elapsed) : undefined;
  }
}
