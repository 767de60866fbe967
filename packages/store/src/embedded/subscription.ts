/** One watch. */
import type { Revision, WatchBatch, WatchOptions } from '../contract.js';
import { Feed } from '../feed.js';
import type { EmbeddedWatcher, Follower } from './follower.js';

/** Batches that wait for a slow taker. When there are more, they are dropped for one snapshot. */
const longestQueue = 1_000;

export class Subscription implements EmbeddedWatcher {
  readonly prefix: string;
  readonly #follower: Follower;
  readonly #options: WatchOptions;
  readonly #feed: Feed<WatchBatch>;
  /** It was too slow, and its queue was dropped. */
  #behind = false;

  constructor(follower: Follower, prefix: string, options: WatchOptions) {
    this.prefix = prefix;
    this.#follower = follower;
    this.#options = options;
    this.#feed = new Feed(() => {
      options.signal.removeEventListener('abort', this.end);
      follower.delete(this);
    });
  }

  readonly end = (): void => this.#feed.end();

  /** @param isClosed looked at when the first batch is asked for: that may be long after `watch` */
  async *run(
    running: Set<Subscription>,
    isClosed: () => boolean,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const { signal, from } = this.#options;
    if (signal.aborted || isClosed()) return;
    signal.addEventListener('abort', this.end, { once: true });
    running.add(this);
    try {
      this.#join(from);
      for await (const batch of this.#feed) {
        yield batch;
        if (this.#behind && !this.#feed.ended) this.#join(undefined);
      }
    } finally {
      this.end();
      running.delete(this);
    }
  }

  tell(batch: WatchBatch): void {
    if (this.#behind) return;
    if (this.#feed.length < longestQueue) {
      this.#feed.push(batch);
      return;
    }
    this.#behind = true;
    this.#feed.clear();
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
