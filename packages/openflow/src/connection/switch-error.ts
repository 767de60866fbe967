import { findErrorName, type ErrorCode, type ErrorName } from '../error-codes.js';
import { OpenFlowError } from '../errors.js';

/** One refused request. */
export interface SwitchFailure extends ErrorCode {
  /** Its place among those that were sent together; -1 when the switch refused all of them at once. */
  readonly index: number;
  /** `undefined` for errors of no standard, which have the type 0xffff. */
  readonly name: ErrorName | undefined;
}

/** The switch refused requests. `code` is that of the first. */
export class SwitchError extends OpenFlowError {
  readonly failures: readonly SwitchFailure[];

  constructor(what: string, failures: readonly SwitchFailure[]) {
    super(failures[0]?.name ?? 'UNKNOWN', `${what}: ${describeFailures(failures)}`);
    this.name = 'SwitchError';
    this.failures = failures;
  }
}

export const failureOf = (index: number, { type, code }: ErrorCode): SwitchFailure => ({
  index,
  type,
  code,
  name: findErrorName({ type, code }),
});

/** The first few; a wrong list of flows is often wrong in all of them. */
function describeFailures(failures: readonly SwitchFailure[]): string {
  const shown = failures.slice(0, 3).map(describeFailure).join('; ');
  return failures.length > 3 ? `${shown}; and ${failures.length - 3} more` : shown;
}

function describeFailure({ index, name, type, code }: SwitchFailure): string {
  const what = name ?? `an error of type ${type} with code ${code}`;
  return index < 0 ? what : `the switch refuses request ${index} (${what})`;
}
