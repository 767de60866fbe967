/**
 * - `NOT_RUNNING`: the run directory has no file with the process id of the daemon
 * - `NOT_SENT`: the daemon has not seen the command; the cause is that of the connection
 * - `TIMEOUT`: no connection or no answer in time: the daemon may have carried out the command, or do it later
 * - `OUTCOME_UNKNOWN`: the connection has ended before the answer: the daemon may have carried out the command
 * - `REFUSED`: the daemon does not know the command, or cannot do it with these arguments
 * - `PROTOCOL`: the answer is not one, or is beyond a limit
 */
export type ControlErrorCode =
  'NOT_RUNNING' | 'NOT_SENT' | 'TIMEOUT' | 'OUTCOME_UNKNOWN' | 'REFUSED' | 'PROTOCOL';

/** Everything that calls of this library throw, except the reason of a signal. */
export class ControlError extends Error {
  readonly code: ControlErrorCode;

  constructor(code: ControlErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ControlError';
    this.code = code;
  }
}
