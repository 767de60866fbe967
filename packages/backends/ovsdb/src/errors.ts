import { describeError, type ErrorCode, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/platform';

/**
 * - `ROW_EXISTS`: a row that was to be made is there already, and ours
 * - `ROW_MISSING`: a row that another one needs is not there
 */
export class RowError extends Error {
  readonly code: 'ROW_EXISTS' | 'ROW_MISSING';

  constructor(code: RowError['code'], message: string) {
    super(message);
    this.name = 'RowError';
    this.code = code;
  }
}

/** A row of others stands in the place of ours, or goes where ours goes. */
export const takenError = (message: string): PodwireError => new PodwireError('ROW_TAKEN', message);

/** For errors of the client: the owners of rows pay for a database that cannot be used, and the others do not. */
export const silentError = (database: string, cause: unknown): PodwireError =>
  new PodwireError('BACKEND_SILENT', `the database ${database} cannot be used: ${describeError(cause)}`, {
    cause,
  });

/** The database is there, and the program behind it has not acted on a row. */
export const unreportedError = (message: string, cause: unknown): PodwireError =>
  new PodwireError('BACKEND_SILENT', message, { cause });

/** The program behind the database did something else than the rows ask for. */
export const refusedError = (message: string): PodwireError => new PodwireError('PORT_REFUSED', message);

/** The program behind the database has not said what was waited for, for reasons of its own. */
export const pendingError = (code: ErrorCode, message: string, cause: unknown): PodwireError =>
  new PodwireError(code, message, { cause });

export const isAbsent = (error: unknown): boolean => hasCode(error, 'ROW_MISSING');

export const isConflict = (error: unknown): boolean => hasCode(error, 'ROW_EXISTS', 'ROW_TAKEN');
