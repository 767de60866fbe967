/**
 * Keys to be worked on, as in client-go: a key that is added several times is worked on once, never twice at a time, and
 * again with back-off after a failure.
 */
import { backoffDelay, type BackoffOptions } from './backoff.js';
import type { Clock } from './environment.js';
import { Heap } from './heap.js';

export interface Requeue {
  /** Milliseconds until the key is due again. */
  readonly requeueAfter: number;
}

export interface WorkqueueOptions<K> {
  /** Brings the key in order, whatever happened to it. A rejection is a failure: the key is tried again. */
  readonly reconcile: (key: K, signal: AbortSignal) => Promise<Requeue | void>;
  readonly onError: (error: unknown, key: K) => void;
  readonly clock: Clock;
  readonly backoff: BackoffOptions;
  /** How many keys are worked on at once; 1 by default. */
  readonly concurrency?: number;
  /** Milliseconds between `add` and the work; what is added meanwhile is one piece of work. 0 by default. */
  readonly delay?: number;
  /** True if an `add` waits for the back-off of its key to end; false by default. */
  readonly holdBackoff?: boolean;
}

interface Item<K> {
  readonly key: K;
  /** Monotonic milliseconds; undefined if it is not due. */
  due: number | undefined;
  isRunning: boolean;
  failures: number;
  /** Not before that time, when `holdBackoff` says so. */
  notBefore: number;
}

interface Entry<K> {
  readonly at: number;
  readonly sequence: number;
  readonly item: Item<K>;
}

/** Work begins in a later microtask than the call that makes it due. */
export class Workqueue<K> {
  readonly #options: WorkqueueOptions<K>;
  readonly #stopped = new AbortController();
  readonly #items = new Map<K, Item<K>>();
  /** An entry whose time is no longer that of its item is stale. */
  readonly #timeline = new Heap<Entry<K>>(
    (a, b) => a.at < b.at || (a.at === b.at && a.sequence < b.sequence),
  );
  readonly #running = new Set<Promise<void>>();
  #sequence = 0;
  #isPumping = false;
  #sleep: { readonly until: number; readonly controller: AbortController } | undefined;

  constructor(options: WorkqueueOptions<K>) {
    this.#options = options;
  }

  /** How many keys are due, running or waiting for their time. */
  get size(): number {
    return this.#items.size;
  }

  add(key: K): void {
    this.addAfter(key, this.#options.delay ?? 0);
  }

  /** The earliest time counts when a key is added several times. */
  addAfter(key: K, milliseconds: number): void {
    if (this.#stopped.signal.aborted) return;
    const item = this.#items.get(key) ?? { key, due: undefined, isRunning: false, failures: 0, notBefore: 0 };
    this.#items.set(key, item);
    this.#schedule(item, Math.max(this.#options.clock.elapsed() + milliseconds, item.notBefore));
  }

  /** Aborts what runs, drops what waits, and resolves when nothing runs any more. */
  async stop(reason: unknown = new DOMException('stopped', 'AbortError')): Promise<void> {
    this.#stopped.abort(reason);
    this.#sleep?.controller.abort();
    await Promise.all(this.#running);
    this.#items.clear();
  }

  #schedule(item: Item<K>, at: number): void {
    if (item.due !== undefined && item.due <= at) return;
    item.due = at;
    // A running key is queued when it has ended.
    if (!item.isRunning) this.#enqueue(item, at);
  }

  #enqueue(item: Item<K>, at: number): void {
    this.#timeline.push({ at, sequence: this.#sequence++, item });
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { clock, concurrency = 1 } = this.#options;
    while (!this.#stopped.signal.aborted && this.#running.size < concurrency) {
      const next = this.#next();
      if (next === undefined) return;
      if (next.at > clock.elapsed()) return this.#sleepUntil(next.at);
      this.#timeline.pop();
      const run = this.#run(next.item).finally(() => {
        this.#running.delete(run);
        this.#pump();
      });
      this.#running.add(run);
    }
  }

  #next(): Entry<K> | undefined {
    const isStale = ({ at, item }: Entry<K>): boolean => item.due !== at || item.isRunning;
    while (this.#timeline.first !== undefined && isStale(this.#timeline.first)) this.#timeline.pop();
    return this.#timeline.first;
  }

  #sleepUntil(at: number): void {
    if (this.#sleep !== undefined && this.#sleep.until <= at) return;
    this.#sleep?.controller.abort();
    const sleep = { until: at, controller: new AbortController() };
    this.#sleep = sleep;
    const { clock } = this.#options;
    clock.sleep(at - clock.elapsed(), sleep.controller.signal).then(
      () => {
        if (this.#sleep === sleep) this.#sleep = undefined;
        this.#pump();
      },
      () => undefined,
    );
  }

  async #run(item: Item<K>): Promise<void> {
    item.isRunning = true;
    item.due = undefined;
    const again = await this.#attempt(item);
    item.isRunning = false;
    const at: number | undefined = item.due;
    const due = Math.min(at === undefined ? Infinity : Math.max(at, item.notBefore), again ?? Infinity);
    item.due = undefined;
    if (due !== Infinity) this.#schedule(item, due);
    else this.#items.delete(item.key);
  }

  /** @returns when the key is due again by itself */
  async #attempt(item: Item<K>): Promise<number | undefined> {
    const { reconcile, onError, clock, backoff, holdBackoff = false } = this.#options;
    try {
      const requeue = await reconcile(item.key, this.#stopped.signal);
      item.failures = 0;
      item.notBefore = 0;
      return requeue === undefined ? undefined : clock.elapsed() + requeue.requeueAfter;
    } catch (error) {
      if (this.#stopped.signal.aborted) return undefined;
      item.failures += 1;
      const again = clock.elapsed() + backoffDelay(item.failures, backoff);
      if (holdBackoff) item.notBefore = again;
      onError(error, item.key);
      return again;
    }
  }
}
