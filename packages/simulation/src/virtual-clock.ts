/** Time that passes only when nothing is left to do at the present moment: hours of a cluster in seconds. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@podwire/platform';

export interface VirtualClock extends Clock {
  /** Lets everything happen, in order of time, until `done` says so. @throws Error when nothing is left to wait for */
  run(done: () => boolean): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly number: number;
  wake(): void;
}

/** @param epoch milliseconds since the epoch at which it begins */
export function createVirtualClock(epoch = 0): VirtualClock {
  const sleepers = new Heap();
  let elapsed = 0;
  let count = 0;
  return {
    now: () => epoch + elapsed,
    elapsed: () => elapsed,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return void reject(signal.reason as Error);
        const stop = (): void => reject(signal.reason as Error);
        const wake = (): void => {
          signal.removeEventListener('abort', stop);
          resolve();
        };
        signal.addEventListener('abort', stop, { once: true });
        sleepers.push({ at: elapsed + Math.max(0, milliseconds), number: count++, wake });
      }),
    async run(done) {
      for (;;) {
        // A turn of the event loop: every promise that can go on has gone on.
        await setImmediate();
        if (done()) return;
        const next = sleepers.pop();
        if (next === undefined) throw new Error('the simulation waits for nothing');
        elapsed = Math.max(elapsed, next.at);
        next.wake();
        // Those of the same moment together: one turn of the event loop for each would be most of the cost.
        while (sleepers.first?.at === next.at) sleepers.pop()!.wake();
      }
    },
  };
}

/** A binary heap by time, then by who came first. */
class Heap {
  readonly #items: Sleeper[] = [];

  get first(): Sleeper | undefined {
    return this.#items[0];
  }

  push(item: Sleeper): void {
    let at = this.#items.push(item) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(item, this.#items[parent]!); parent = (at - 1) >> 1) {
      this.#items[at] = this.#items[parent]!;
      at = parent;
    }
    this.#items[at] = item;
  }

  pop(): Sleeper | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (first === undefined || last === undefined || first === last) return first;
    this.#sink(last);
    return first;
  }

  #sink(item: Sleeper): void {
    let at = 0;
    for (;;) {
      const child = this.#smallerChild(at);
      if (child === undefined || !isBefore(this.#items[child]!, item)) break;
      this.#items[at] = this.#items[child]!;
      at = child;
    }
    this.#items[at] = item;
  }

  #smallerChild(at: number): number | undefined {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    if (left >= this.#items.length) return undefined;
    return right < this.#items.length && isBefore(this.#items[right]!, this.#items[left]!) ? right : left;
  }
}

const isBefore = (a: Sleeper, b: Sleeper): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);
