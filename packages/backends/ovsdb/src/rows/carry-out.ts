/** Steps in one transaction, and again where the answer was lost or another program was faster. */
import { PodwireError } from '@podwire/errors';
import { OvsdbError, TransactionError } from '@podwire/ovsdb';
import { silentError } from '../errors.js';
import type { DatabaseLink } from './link.js';
import { type Plan, planTransaction, type Step, stepId } from './plan.js';

export interface StepFailure<S> {
  readonly step: Step<S>;
  readonly error: unknown;
}

const ATTEMPTS = 3;

/** All or nothing. @throws PodwireError BACKEND_SILENT, and that of the guard; the signal's reason */
export async function carryOut<S>(
  link: DatabaseLink,
  steps: readonly Step<S>[],
  signal: AbortSignal,
): Promise<readonly StepFailure<S>[]> {
  let wanted = steps;
  for (let attempt = 1; ; attempt++) {
    const plan = planTransaction(await link.look(signal), wanted);
    if (plan.failures.length > 0) return plan.failures;
    if (plan.operations.length === 0) return [];
    signal.throwIfAborted();
    try {
      const operations = plan.operations.map(({ operation }) => operation);
      await link.transact(operations, wanted.map(stepId), signal);
      return [];
    } catch (error) {
      signal.throwIfAborted();
      if (isOutcomeUnknown(error) && attempt < ATTEMPTS) wanted = wanted.map(withoutConflict);
      else if (!isOvertaken(error) || attempt === ATTEMPTS)
        return await failuresOf(link, plan, wanted, { error, signal });
    }
  }
}

/** A row may have come with the transaction whose answer is missing. */
const withoutConflict = <S>(step: Step<S>): Step<S> =>
  step.action === 'add' ? { ...step, action: 'replace' } : step;

export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof OvsdbError && error.code === 'OUTCOME_UNKNOWN';

/** The rows were others than those that the transaction was made for. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof TransactionError &&
  (error.isGuardFailure || error.failures.some((failure) => failure.error === 'duplicate uuid'));

interface Refusal {
  readonly error: unknown;
  readonly signal: AbortSignal;
}

/**
 * Of those steps whose operation was refused; of all of them where the transaction was refused as a whole. The rows as
 * they are now say more than the database: it may be a row of others that came meanwhile.
 */
async function failuresOf<S>(
  link: DatabaseLink,
  { operations }: Plan<S>,
  steps: readonly Step<S>[],
  { error, signal }: Refusal,
): Promise<readonly StepFailure<S>[]> {
  // Values that do not fit the schema.
  if (error instanceof TypeError || error instanceof RangeError)
    return steps.map((step) => ({ step, error }));
  if (error instanceof PodwireError) throw error;
  if (!(error instanceof TransactionError)) throw silentError(link.description.database, error);
  const { failures } = planTransaction(await link.look(signal), steps);
  if (failures.length > 0) return failures;
  const refused = error.failures
    .map(({ index }) => operations[index]?.step)
    .filter((step) => step !== undefined);
  return (refused.length === 0 ? steps : [...new Set(refused)]).map((step) => ({ step, error }));
}
