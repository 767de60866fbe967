/** Writes that are on their way. No caller waits for them any more, or not for long. */
import { folders } from '@podwire/cluster-state';
import type { Clock } from '@podwire/platform';
import type { Store, Transaction } from '@podwire/store';
import { keys } from './cluster.js';

/** Milliseconds. Nothing is on its way for ever. What makes an owner of a node must do no harm however late it is, but reports count on that. */
const longestWay = 250_000;
const isReport = ({ writes }: Transaction): boolean =>
  writes.every(({ key }) => key.startsWith(`${keys.root}/${folders.allocationRecords}`));

export class LateWrites {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #store: Store;
  readonly #late: { readonly transaction: Transaction; readonly sentAt: number }[] = [];

  constructor(clock: Pick<Clock, 'elapsed'>, store: Store) {
    this.#clock = clock;
    this.#store = store;
  }

  add(transaction: Transaction): void {
    this.#late.push({ transaction, sentAt: this.#clock.elapsed() });
  }

  /** One of them is done, if it still can be. */
  async arrive(at: number): Promise<void> {
    const [late] = this.#late.splice(at % Math.max(1, this.#late.length), 1);
    if (late === undefined) return;
    const isLost = isReport(late.transaction) && this.#clock.elapsed() - late.sentAt > longestWay;
    if (!isLost) await this.#store.transact(late.transaction);
  }

  async arriveAll(): Promise<void> {
    while (this.#late.length > 0) await this.arrive(0);
  }
}
