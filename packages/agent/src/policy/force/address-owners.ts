/** An address that goes to a new owner takes no entry of connection tracking along. */
import { type Clock, waitUntil, withDeadline, Workqueue } from '@podwire/platform';
import type { Log } from '../../log.js';
import type { ConntrackCuts } from '../contract.js';

const queueKey = 'conntrack';
/** Milliseconds: a table of a million entries takes some seconds. */
const deadline = 20_000;
const backoff = { first: 200, longest: 5_000 } as const;

/** Addresses whose entries are being deleted. Those that come while the table is walked through are for the next time. */
export class AddressOwners {
  readonly #cuts: ConntrackCuts;
  readonly #queue: Workqueue<typeof queueKey>;
  readonly #listeners = new Set<() => void>();
  #waiting = new Set<string>();
  #running: ReadonlySet<string> = new Set();

  constructor({
    cuts,
    clock,
    log,
  }: {
    readonly cuts: ConntrackCuts;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#cuts = cuts;
    this.#queue = new Workqueue({
      reconcile: (_, signal) => this.#forget(signal),
      onError: (err) => log.warn({ err }, 'connections of earlier owners of addresses could not be deleted'),
      clock,
      backoff,
    });
  }

  /** These have no owner any more, or another one. */
  release(addresses: Iterable<string>): void {
    const before = this.#waiting.size;
    for (const address of addresses) this.#waiting.add(address);
    if (this.#waiting.size > before) this.#queue.add(queueKey);
  }

  /** Resolves when none of the addresses has an entry of an earlier owner; at once where none waits. */
  async settled(addresses: readonly string[], signal: AbortSignal): Promise<void> {
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

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  async #forget(signal: AbortSignal): Promise<void> {
    const addresses = this.#waiting;
    [this.#waiting, this.#running] = [new Set(), addresses];
    try {
      if (addresses.size > 0)
        await withDeadline(signal, deadline, (limit) => this.#cuts.forget(addresses, limit));
      this.#running = new Set();
    } catch (error) {
      this.#waiting = new Set([...addresses, ...this.#waiting]);
      this.#running = new Set();
      throw error;
    }
    for (const listener of [...this.#listeners]) listener();
  }
}
