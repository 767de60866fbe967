/** An address that goes to a new owner takes no entry of connection tracking along. */
import { type Clock, waitUntil, withDeadline, Workqueue } from '@podwire/platform';
import type { Log } from '../../log.js';
import type { ConntrackCuts } from '../contract.js';

const queueKey = 'conntrack';
/** Milliseconds: a walk takes the kernel some, also through an empty table, and one is enough for all pods that go. */
const pause = 250;
/** Milliseconds: a table of a million entries takes some seconds. */
const deadline = 20_000;
/** Milliseconds, of an agent that stops. */
const lastDeadline = 2_000;
const backoff = { first: 200, longest: 5_000 } as const;

export interface AddressOwnersOptions {
  readonly cuts: Pick<ConntrackCuts, 'forget'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Addresses whose entries are being deleted. Those that come while the table is walked through are for the next time. */
export class AddressOwners {
  readonly #cuts: Pick<ConntrackCuts, 'forget'>;
  readonly #log: Log;
  readonly #queue: Workqueue<typeof queueKey>;
  readonly #listeners = new Set<() => void>();
  #waiting = new Set<string>();
  #running: ReadonlySet<string> = new Set();

  constructor({ cuts, clock, log }: AddressOwnersOptions) {
    this.#cuts = cuts;
    this.#log = log;
    this.#queue = new Workqueue({
      reconcile: (_, signal) => this.#forget(signal, deadline),
      onError: (err) => this.#noteFailure(err),
      clock,
      backoff,
    });
  }

  /** These have no owner any more, or another one. They wait for each other, as long as no pod has one of them. */
  release(addresses: Iterable<string>): void {
    const before = this.#waiting.size;
    for (const address of addresses) this.#waiting.add(address);
    if (this.#waiting.size > before) this.#queue.addAfter(queueKey, pause);
  }

  /** These have an owner now. */
  take(addresses: readonly string[]): void {
    if (addresses.some((address) => this.#waiting.has(address))) this.#queue.add(queueKey);
  }

  /** Resolves when none of the addresses has an entry of an earlier owner; at once where none waits. */
  async settled(addresses: readonly string[], signal: AbortSignal): Promise<void> {
    this.take(addresses);
    const isPending = (): boolean =>
      addresses.some((address) => this.#waiting.has(address) || this.#running.has(address));
    await waitUntil(
      () => !isPending(),
      (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      signal,
    );
  }

  /** Addresses that wait do so no longer: the next life of the agent does not know them. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    await this.#forget(undefined, lastDeadline).catch((err: unknown) => this.#noteFailure(err));
  }

  #noteFailure(err: unknown): void {
    this.#log.warn({ err }, 'connections of earlier owners of addresses could not be deleted');
  }

  async #forget(signal: AbortSignal | undefined, milliseconds: number): Promise<void> {
    const addresses = this.#waiting;
    [this.#waiting, this.#running] = [new Set(), addresses];
    try {
      if (addresses.size > 0)
        await withDeadline(signal, milliseconds, (limit) => this.#cuts.forget(addresses, limit));
      this.#running = new Set();
    } catch (error) {
      this.#waiting = new Set([...addresses, ...this.#waiting]);
      this.#running = new Set();
      throw error;
    }
    for (const listener of [...this.#listeners]) listener();
  }
}
