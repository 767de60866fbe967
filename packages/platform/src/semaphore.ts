import { onAbort } from './abort.js';

/** Runs so many pieces of work at once; the others wait in order of arrival. */
export class Semaphore {
  readonly #queue = new Set<() => void>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** @throws the signal's reason if it fires before the work begins */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(signal, (reason) => {
        this.#queue.delete(enter);
        reject(reason);
      });
      const enter = (): void => {
        unsubscribe();
        resolve();
      };
      this.#queue.add(enter);
    });
  }

  /** Hands the permit to the next waiter. */
  #release(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#free += 1;
    else {
      this.#queue.delete(next);
      next();
    }
  }
}

/** Works through a list, so many items at once. The first failure rejects; what has begun goes on. */
export async function forEachLimited<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const drain = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, drain));
}
