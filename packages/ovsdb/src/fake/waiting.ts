/** Transactions that may wait for a condition. */
import { type Clock, pause } from '@podwire/platform';
import type { Json } from '../values.js';
import type { Database, Outcome } from './database.js';

export interface Call {
  readonly database: Database;
  readonly operations: readonly unknown[];
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called once: with `undefined` when the transaction was cancelled. */
  readonly answer: (outcome: Exclude<Outcome, Blocked> | undefined) => void;
}

type Blocked = Extract<Outcome, { readonly blocked: unknown }>;

/** A transaction that is tried until its condition holds, or until the client does not want to wait any longer. */
export class Waiting {
  readonly #call: Call;
  readonly #over = new AbortController();
  #isExpired = false;
  #hasTimer = false;

  constructor(call: Call) {
    this.#call = call;
  }

  /** @returns true when it has been answered */
  attempt(): boolean {
    if (this.#over.signal.aborted) return true;
    const { database, operations } = this.#call;
    const outcome = database.transact(operations);
    if (!('blocked' in outcome)) return this.#end(outcome);
    const { timeout } = outcome.blocked;
    if (this.#isExpired || timeout <= 0) return this.#end({ results: timedOut(outcome, operations) });
    if (!this.#hasTimer) void this.#expire(timeout);
    return false;
  }

  cancel(): void {
    if (!this.#over.signal.aborted) this.#end(undefined);
  }

  async #expire(timeout: number): Promise<void> {
    this.#hasTimer = true;
    if (timeout === Infinity || !(await pause(this.#call.clock, timeout, this.#over.signal))) return;
    this.#isExpired = true;
    this.attempt();
  }

  #end(outcome: Exclude<Outcome, Blocked> | undefined): true {
    this.#over.abort();
    this.#call.answer(outcome);
    return true;
  }
}

function timedOut({ blocked, results }: Blocked, operations: readonly unknown[]): readonly Json[] {
  const rest = operations.slice(results.length + 1).map(() => null);
  return [...results, { error: 'timed out', details: blocked.message }, ...rest];
}
