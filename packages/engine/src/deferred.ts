import { describeError } from '@podwire/errors';
import type { FaultPoints } from '@podwire/platform';
import type { DeferredDeletion, SessionOptions, Snapshot } from './contract.js';
import { type AbandonedCalls, CallGuard } from './session-calls.js';

/** When deferred deletions run, in milliseconds: after so long without a call, at the latest after so long. */
const QUIET = 25;
const LONGEST_WAIT = 1_000;

export interface DeferredQueueOptions {
  /** Of the backend. */
  readonly name: string;
  readonly deletion: DeferredDeletion;
  /** Milliseconds for one call of the backend. */
  readonly deadline: number;
  readonly abandoned: AbandonedCalls;
  readonly faults: FaultPoints;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

/** Batches of deferred deletions. They run together when the engine is idle; a failed one is tried again later. */
export class DeferredQueue {
  readonly #options: DeferredQueueOptions;
  readonly #waiting = new Set<number>();
  #current = 0;
  #inCurrent = 0;
  #timer: NodeJS.Timeout | undefined;
  #oldest = 0;
  #lastActivity = 0;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: DeferredQueueOptions) {
    this.#options = options;
  }

  /** The batch to put so many things into. It is deleted some time after. */
  add(count: number): number {
    if (this.#inCurrent >= this.#options.deletion.batchSize) this.#startBatch();
    this.#inCurrent += count;
    this.adopt(this.#current);
    return this.#current;
  }

  #startBatch(): void {
    this.#current = (this.#current + 1) % this.#options.deletion.batches;
    this.#inCurrent = 0;
  }

  /** A batch in which an earlier process left something. */
  adopt(batch: number): void {
    if (this.#waiting.size === 0) this.#oldest = this.#options.now();
    this.#waiting.add(batch);
    this.#wakeIn(QUIET);
  }

  #wakeIn(delay: number): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#wake(), delay);
  }

  /** The engine is working: deletions can wait a little longer. */
  noteActivity(): void {
    this.#lastActivity = this.#options.now();
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.#options.now();
    const busy = now - this.#lastActivity < QUIET && now - this.#oldest < LONGEST_WAIT;
    if (busy) this.#wakeIn(QUIET);
    else this.flush().catch((error: unknown) => this.#complain(error));
  }

  #complain(error: unknown): void {
    this.#options.onError(`a deferred deletion failed: ${describeError(error)}`);
  }

  /** Deletes everything that waits, also what an earlier process left. */
  async settle(): Promise<void> {
    await this.adoptAll(new AbortController().signal);
    await this.flush();
  }

  /** Takes over all batches that an earlier process, or a prune, has left something in. */
  async adoptAll(signal: AbortSignal, snapshot?: Snapshot): Promise<void> {
    const batches = await this.#call(signal, async (call) => this.#options.deletion.list(call, snapshot));
    for (const batch of batches) this.adopt(batch);
  }

  /** Deletes everything that waits now. What cannot be deleted is tried again later. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const mine = this.#running.then(async () => this.#deleteAll());
    this.#running = mine.catch(() => undefined);
    await mine;
  }

  /** The same for the last time. The next process finds by its mark what could not be deleted. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush().catch((error: unknown) => this.#complain(error));
  }

  async #deleteAll(): Promise<void> {
    this.#startBatch(); // nothing must join a batch that is being deleted
    const batches = [...this.#waiting];
    this.#waiting.clear();
    for (const [index, batch] of batches.entries()) {
      try {
        await this.#delete(batch);
      } catch (error) {
        this.#postpone([...batches.slice(index + 1), batch]);
        throw error;
      }
    }
  }

  /** The one that failed comes last, or it would delay the others for ever. */
  #postpone(batches: readonly number[]): void {
    if (this.#waiting.size === 0) this.#oldest = this.#options.now();
    for (const batch of batches) this.#waiting.add(batch);
    this.#wakeIn(LONGEST_WAIT);
  }

  async #delete(batch: number): Promise<void> {
    const { deletion, faults } = this.#options;
    faults.reach('deferred:begin');
    await this.#call(new AbortController().signal, async (call) => deletion.delete(batch, call));
    faults.reach('deferred:end');
  }

  async #call<T>(signal: AbortSignal, work: (options: SessionOptions) => Promise<T>): Promise<T> {
    const { name, deadline, abandoned } = this.#options;
    const guard = new CallGuard({ deadline, abandoned, silent: new Map() }, signal);
    try {
      return await guard.run(name, work);
    } finally {
      guard.close();
    }
  }
}
