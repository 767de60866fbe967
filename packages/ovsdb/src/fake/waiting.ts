/** Transactions that wait for a condition. */
import { type Clock, pause } from '@podwire/platform';
import type { Json } from '../values.js';
import type { Database, Outcome } from './database.js';

export interface Waiting {
  readonly attempt: () => boolean;
  readonly cancel: () => void;
}

interface Call {
  readonly database: Database;
  readonly operations: readonly unknown[];
  readonly clock: Pick<Clock, 'sleep' | 'elapsed'>;
  /** Called once: `undefined` when the transaction was cancelled. */
  readonly answer: (outcome: Extract<Outcome, { commit?: unknown }> | undefined) => void;
}

/**
 * Carries out a transaction, now or when its condition holds, or fails it when the client does not want to wait any longer.
 * @returns how to try again and how to cancel, while it waits
 */
export function transactOrWait({ database, operations, clock, answer }: Call): Waiting | undefined {
  const begin = clock.elapsed();
  const over = new AbortController();
  let timeout = 0;
  const end = (outcome: Parameters<Call['answer']>[0]): true => {
    over.abort();
    answer(outcome);
    return true;
  };
  const attempt = (): boolean => {
    if (over.signal.aborted) return true;
    const outcome = database.transact(operations);
    if (!('blocked' in outcome)) return end(outcome);
    timeout = outcome.blocked.timeout;
    if (clock.elapsed() - begin < timeout) return false;
    return end({ results: timedOut(outcome, operations) });
  };
  if (attempt()) return undefined;
  void expire(clock, timeout, over.signal, attempt);
  return { attempt, cancel: () => void end(undefined) };
}

async function expire(
  clock: Pick<Clock, 'sleep'>,
  timeout: number,
  signal: AbortSignal,
  attempt: () => boolean,
): Promise<void> {
  if (timeout < Infinity && (await pause(clock, timeout, signal))) attempt();
}

function timedOut(
  { blocked, results }: Extract<Outcome, { blocked: unknown }>,
  operations: readonly unknown[],
): readonly Json[] {
  const rest = operations.slice(results.length + 1).map(() => null);
  return [...results, { error: 'timed out', details: blocked.message }, ...rest];
}
