/** One watch of one client. */
import { AsyncQueue, type Clock, onAbort } from '@podwire/platform';
import type { Revision, WatchBatch, WatchOptions } from '../contract.js';
import { unavailable } from '../failures.js';
import type { Watcher } from '../watchers.js';
import type { MemoryCall, MemoryFaults } from './faults.js';
import type { MemoryCore } from './core.js';

/** Batches queued for a slow consumer. When there are more, they are dropped for one snapshot. */
const longestQueue = 10_000;

interface Sent {
  readonly batch: WatchBatch;
  /** When it arrives. */
  readonly due: number;
}

/** The client it belongs to. */
export interface Connection {
  readonly core: MemoryCore;
  readonly clock: Clock;
  readonly faults: MemoryFaults;
  readonly reachable: boolean;
  readonly closed: boolean;
  /** Those that run. */
  readonly subscriptions: Set<Subscription>;
}

export class Subscription implements Watcher {
  readonly prefix: string;
  readonly #connection: Connection;
  readonly #options: WatchOptions;
  readonly #call: MemoryCall;
  readonly #queue: AsyncQueue<Sent>;
  readonly #over = new AbortController();
  #unsubscribe = (): void => undefined;
  /** Everything up to here has been given, or is in the queue. */
  #position: Revision | undefined;
  #connected = false;
  #interrupted = false;

  constructor(connection: Connection, prefix: string, options: WatchOptions) {
    this.prefix = prefix;
    this.#connection = connection;
    this.#options = options;
    this.#call = { operation: 'watch', key: prefix };
    this.#position = options.from;
    this.#queue = new AsyncQueue(() => {
      this.#unsubscribe();
      this.#over.abort();
      this.#disconnect();
      connection.subscriptions.delete(this);
    });
  }

  readonly end = (): void => this.#queue.end();

  async *run(): AsyncGenerator<WatchBatch, void, undefined> {
    this.#connection.subscriptions.add(this);
    this.#unsubscribe = onAbort(this.#options.signal, this.end);
    if (this.#queue.ended || this.#connection.closed) this.end();
    else if (this.#connection.reachable) this.#connect();
    else this.interrupt(unavailable('the store cannot be reached'));
    try {
      for await (const { batch, due } of this.#queue) {
        if (!(await this.#until(due))) return;
        yield batch;
        if (this.#isBehind) this.#connect();
      }
    } finally {
      this.end();
    }
  }

  deliver(batch: WatchBatch): void {
    if (!this.#connected) return;
    const { faults, clock } = this.#connection;
    if (faults.decide?.(this.#call) === 'unavailable') {
      this.drop();
      return;
    }
    this.#position = batch.revision;
    if (this.#queue.length >= longestQueue) this.#forget();
    else this.#queue.push({ batch, due: clock.elapsed() + (faults.latency?.(this.#call) ?? 0) });
  }

  /** Cuts it off; it comes back after a pause when the client can reach the server then. */
  drop(): void {
    this.interrupt(unavailable(`the watch of ${this.prefix} was cut off`));
    const { clock, faults } = this.#connection;
    const later = (): void => {
      if (this.#connection.reachable) this.recover();
    };
    // Not in a microtask: a watch that is cut off each time would be all that ever runs.
    if ((faults.pause ?? 0) === 0) setImmediate(later);
    else clock.sleep(faults.pause ?? 0, this.#over.signal).then(later, () => undefined);
  }

  interrupt(error: unknown): void {
    if (this.#interrupted || this.#queue.ended) return;
    this.#disconnect();
    this.#interrupted = true;
    // Not at once: this may be in the middle of another client's write.
    queueMicrotask(() => this.#options.onInterruption?.(error));
  }

  recover(): void {
    if (!this.#interrupted || this.#queue.ended) return;
    this.#interrupted = false;
    queueMicrotask(() => this.#options.onRecovery?.());
    this.#connect();
  }

  /** The consumer was too slow, its queue was dropped, and it has consumed the batches taken before. */
  get #isBehind(): boolean {
    return !this.#connected && !this.#interrupted && !this.#queue.ended;
  }

  #forget(): void {
    this.#queue.clear();
    this.#disconnect();
    this.#position = undefined;
  }

  #connect(): void {
    this.#connected = true;
    this.#connection.core.watch(this, this.#position);
  }

  #disconnect(): void {
    this.#connected = false;
    this.#connection.core.unwatch(this);
  }

  /** @returns false when it has ended meanwhile */
  async #until(due: number): Promise<boolean> {
    const { clock } = this.#connection;
    const wait = due - clock.elapsed();
    if (wait <= 0) return true;
    return clock.sleep(wait, this.#over.signal).then(
      () => true,
      () => false,
    );
  }
}
