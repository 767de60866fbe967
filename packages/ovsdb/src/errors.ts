/**
 * - `PROTOCOL`: the other side sent something that RFC 7047 does not allow, or that is beyond a limit
 * - `NOT_SENT`: the server has not seen the request, so it may be sent again
 * - `OUTCOME_UNKNOWN`: the request was sent and no answer came: the server may have carried it out
 * - `REFUSED`: the server answered a request with an error
 * - `TRANSACTION_FAILED`: operations of a transaction failed, and nothing was changed
 * - `TIMEOUT`: the content of a cache did not become what was waited for
 */
export type OvsdbErrorCode =
  'PROTOCOL' | 'NOT_SENT' | 'OUTCOME_UNKNOWN' | 'REFUSED' | 'TRANSACTION_FAILED' | 'TIMEOUT';

/** Base of everything this library throws, except TypeError and RangeError for arguments that cannot be encoded. */
export class OvsdbError extends Error {
  readonly code: OvsdbErrorCode;

  constructor(code: OvsdbErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OvsdbError';
    this.code = code;
  }
}

/** The bytes are not RFC 7047, do not fit the schema, or are beyond a limit. */
export class ProtocolError extends OvsdbError {
  constructor(message: string, options?: ErrorOptions) {
    super('PROTOCOL', message, options);
    this.name = 'ProtocolError';
  }
}

/** The server answered a request with an error. */
export class RefusedError extends OvsdbError {
  /** Such as `unknown database`, `unknown method`, `canceled`. */
  readonly error: string;
  readonly details: string | undefined;

  constructor(method: string, error: string, details: string | undefined) {
    super('REFUSED', `${method}: ${error}${details === undefined ? '' : `: ${details}`}`);
    this.name = 'RefusedError';
    this.error = error;
    this.details = details;
  }
}

/** An operation that failed. */
export interface FailedOperation {
  /** In the transaction; one more than the last one is the commit, where references and indexes are checked. */
  readonly index: number;
  /** `insert Bridge`, `commit` */
  readonly label: string;
  /** As the server names it: `constraint violation`, `referential integrity violation`, `timed out` of a guard. */
  readonly error: string;
  readonly details?: string;
}

/** A transaction failed as a whole: nothing was changed. */
export class TransactionError extends OvsdbError {
  /** At least one. */
  readonly failures: readonly FailedOperation[];

  constructor(failures: readonly FailedOperation[]) {
    super('TRANSACTION_FAILED', failures.map(describeFailure).join('; '));
    this.name = 'TransactionError';
    this.failures = failures;
  }

  /** True if a guard (an operation `wait`) did not hold: read again, then try again. */
  get isGuardFailure(): boolean {
    return this.failures.some(({ error }) => error === 'timed out');
  }
}

const describeFailure = ({ label, error, details }: FailedOperation): string =>
  `${label}: ${error}${details === undefined ? '' : ` (${details})`}`;

/** `table Port, column tag: expected integer, found "x"` */
export const unexpected = (place: string, expected: string, found: unknown): ProtocolError =>
  new ProtocolError(`${place}: expected ${expected}, found ${JSON.stringify(found)?.slice(0, 80)}`);
