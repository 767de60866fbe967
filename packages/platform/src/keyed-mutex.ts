/** A fair reader/writer lock by key: work on one key is serial, different keys run side by side, and one may lock them all. */
import { onAbort } from './abort.js';

/** `undefined` stands for all keys. */
type Key = string | undefined;

interface Waiter {
  readonly key: Key;
  readonly enter: () => void;
}

/**
 * First come, first served: a waiter is admitted when it conflicts neither with running work nor with an earlier waiter, so
 * neither kind can starve the other.
 */
export class KeyedMutex {
  readonly #held = new Set<Key>();
  #waiting: Waiter[] = [];

  /** How many pieces of work run or wait. */
  get size(): number {
    return this.#held.size + this.#waiting.length;
  }

  /** Runs `work` while no other work has the key or all keys. @throws the signal's reason if it fires before the work begins */
  withKey<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#run(key, signal, work);
  }

  /** Runs `work` if it can begin at once: `undefined` where other work has the key, waits for it, or has all keys. */
  tryWithKey<T>(key: string, work: () => Promise<T>): Promise<T> | undefined {
    if (!admits(this.#held, key) || this.#waiting.some((waiter) => waiter.key === key)) return undefined;
    return this.#hold(key, work);
  }

  /** Runs `work` alone. @throws as {@link withKey} */
  withAll<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#run(undefined, signal, work);
  }

  async #run<T>(key: Key, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#waiting.length > 0 || !admits(this.#held, key)) await this.#wait(key, signal);
    return this.#hold(key, work);
  }

  async #hold<T>(key: Key, work: () => Promise<T>): Promise<T> {
    this.#held.add(key);
    try {
      return await work();
    } finally {
      this.#held.delete(key);
      this.#admitWaiters();
    }
  }

  #wait(key: Key, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(signal, (reason) => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        this.#admitWaiters();
        reject(reason);
      });
      const enter = (): void => {
        unsubscribe();
        resolve();
      };
      const waiter: Waiter = { key, enter };
      this.#waiting.push(waiter);
      this.#admitWaiters();
    });
  }

  #admitWaiters(): void {
    if (this.#waiting.length === 0 || this.#held.has(undefined)) return;
    const ahead = new Set<Key>();
    this.#waiting = this.#waiting.filter((waiter) => {
      if (admits(this.#held, waiter.key) && admits(ahead, waiter.key)) {
        this.#held.add(waiter.key);
        waiter.enter();
        return false;
      }
      ahead.add(waiter.key);
      return true;
    });
  }
}

const admits = (others: ReadonlySet<Key>, key: Key): boolean =>
  key === undefined ? others.size === 0 : !others.has(undefined) && !others.has(key);
