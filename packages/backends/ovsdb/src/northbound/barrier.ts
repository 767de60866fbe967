/** How far what was written has come: OVN counts in `nb_cfg`, and the programs behind the database follow. */
import { orAborted, withDeadline } from '@podwire/platform';
import { OvsdbError } from '@podwire/ovsdb';
import { silentError, unreportedError } from '../errors.js';
import type { DatabaseLink } from '../rows/link.js';

/**
 * - `southbound`: ovn-northd has made logical flows of it
 * - `hypervisors`: every ovn-controller has made flows of its switch of them; a node that is down holds it up. After
 *   the restore of an older database it comes too early, until the count is where it was: nodes remember theirs
 */
export type Reach = 'southbound' | 'hypervisors';

export interface SettleOptions {
  readonly signal: AbortSignal;
  /** Milliseconds; the patience of the backend when absent. */
  readonly timeout?: number;
}

const GLOBAL = 'NB_Global';
const done = { southbound: 'sb_cfg', hypervisors: 'hv_cfg' } as const;
const behind = {
  southbound: 'ovn-northd has not taken over what is in the northbound database',
  hypervisors: 'not every ovn-controller has taken over what is in the northbound database',
} as const;

export class Barrier {
  readonly #link: DatabaseLink;
  readonly #patience: number;
  /** Those who ask while a question is under way share the next one: each costs every hypervisor a transaction. */
  #next: Promise<number> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(link: DatabaseLink, patience: number) {
    this.#link = link;
    this.#patience = patience;
  }

  /** @throws PodwireError BACKEND_SILENT; the signal's reason */
  async settle(reach: Reach, { signal, timeout = this.#patience }: SettleOptions): Promise<void> {
    let isReached = false;
    const reason = (): Error =>
      isReached
        ? unreportedError(`${behind[reach]} within ${timeout} ms`, undefined)
        : silentError(this.#link.description.database, new Error(`no connection within ${timeout} ms`));
    const wait = async (either: AbortSignal): Promise<void> => {
      await this.#link.look(either);
      isReached = true;
      await this.#follow(reach, { signal: either, timeout });
    };
    await withDeadline(signal, timeout, wait, { reason });
  }

  async #follow(reach: Reach, options: Required<SettleOptions>): Promise<void> {
    const { signal } = options;
    try {
      // ovn-northd makes the row in a new database.
      await this.#link.until((view) => view.findSingle(GLOBAL) !== undefined, options);
      const number = await orAborted(this.#ask(), signal);
      // It is gone again: the database was emptied.
      if (number === 0) return await this.#follow(reach, options);
      await this.#link.until((view) => Number(view.findSingle(GLOBAL)?.[done[reach]]) >= number, options);
    } catch (error) {
      signal.throwIfAborted();
      throw silentError(this.#link.description.database, error);
    }
  }

  #ask(): Promise<number> {
    this.#next ??= this.#last.then(() => {
      const question = this.#next!;
      this.#next = undefined;
      this.#last = question.catch(() => undefined);
      return this.#countUp();
    });
    return this.#next;
  }

  /** Twice does no harm, and a leader that goes takes its last answers with it. */
  async #countUp(): Promise<number> {
    try {
      return await this.#link.ask(GLOBAL, 'nb_cfg', {});
    } catch (error) {
      if (error instanceof OvsdbError && error.code === 'OUTCOME_UNKNOWN')
        return await this.#link.ask(GLOBAL, 'nb_cfg', {});
      throw error;
    }
  }
}
