/** Tells the cluster which objects are in force on this node: `podwire apply --wait` waits for it. */
import { type Keys, type PolicyStatus, policyStatusKind } from '@podwire/cluster-state';
import { type Clock, withDeadline, Workqueue } from '@podwire/platform';
import { encodeObject, type LeaseId, type Store } from '@podwire/store';
import type { Log } from '../../log.js';

export interface StatusWriterOptions {
  readonly node: string;
  readonly store: Store;
  readonly keys: Keys;
  /** Undefined until something is in force. */
  readonly read: () => PolicyStatus | undefined;
  /** The status goes with the node's lease. */
  readonly leaseId: () => LeaseId | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const queueKey = 'status';
/** Milliseconds. */
const callDeadline = 5_000;
const backoff = { first: 100, longest: 5_000 } as const;

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #queue: Workqueue<typeof queueKey>;
  #written: string | undefined;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#queue = new Workqueue({
      reconcile: (_, signal) => this.#write(signal),
      onError: (err) => options.log.warn({ err }, 'the state of policy did not reach the store'),
      clock: options.clock,
      backoff,
    });
  }

  note(): void {
    this.#queue.add(queueKey);
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { node, store, keys, read, leaseId } = this.#options;
    const [status, lease] = [read(), leaseId()];
    // Without a lease the node counts as dead. The next lease tells.
    if (status === undefined || lease === undefined) return;
    const text = encodeObject(policyStatusKind, status);
    const written = `${lease} ${text}`;
    if (written === this.#written) return;
    this.#written = undefined;
    await withDeadline(signal, callDeadline, (limit) =>
      store.put(keys.policyStatus(node), text, { lease, signal: limit }),
    );
    this.#written = written;
  }
}
