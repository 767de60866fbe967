/** One watch. */
import { AsyncQueue, onAbort } from '@podwire/platform';
import type { Revision, WatchBatch, WatchOptions } from '../contract.js';
import type { EmbeddedWatcher, Follower } from './follower.js';

/** Batches queued for a slow consumer. When there are more, they are dropped for one snapshot. */
const longestQueue = 1_000;

export class Subscription implements EmbeddedWatcher {
  readonly prefix: string;
  readonly #follower: Follower;
  readonly #options: WatchOptions;
  readonly #queue: AsyncQueue<WatchBatch>;
  #unsubscribe = (): void => undefined;
  /** The consumer was too slow, and its queue was dropped. */
  #behind = false;

  constructor(follower: Follower, prefix: string, options: WatchOptions) {
    this.prefix = prefix;
    this.#follower = follower;
    this.#options = options;
    this.#queue = new AsyncQueue(() => {
      this.#unsubscribe();
      follower.delete(this);
    });
  }

  readonly end = (): void => this.#queue.end();

  /** @param isClosed checked when the first batch is requested, which may be long after `watch` */
  async *run(
    running: Set<Subscription>,
    isClosed: () => boolean,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const { signal, from } = this.#options;
    if (signal.aborted || isClosed()) return;
    this.#unsubscribe = onAbort(signal, this.end);
    running.add(this);
    try {
      this.#join(from);
      for await (const batch of this.#queue) {
        yield batch;
        if (this.#behind && !this.#queue.ended) this.#join(undefined);
      }
    } finally {
      this.end();
      running.delete(this);
    }
  }

  deliver(batch: WatchBatch): void {
    if (this.#behind) return;
    if (this.#queue.length < longestQueue) {
      this.#queue.push(batch);
      return;
    }
    this.#behind = true;
    this.#queue.clear();
    this.#follower.delete(this);
  }

  interrupt(error: unknown): void {
    this.#options.onInterruption?.(error);
  }

  recover(): void {
    this.#options.onRecovery?.();
  }

  #join(from: Revision | undefined): void {
    this.#behind = false;
    this.#follower.add(this, from);
  }
}
