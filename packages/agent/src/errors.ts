/** How every failure looks to a runtime. This is the only place that makes CNI codes out of Podwire's. */
import { CniError, type Command, errorCodes } from '@podwire/cni';
import { compact } from '@podwire/platform';
import { describeError, type ErrorCode, errorCatalogue, PodwireError } from '@podwire/errors';

/** The code of an error for logs, metrics and traces: Podwire's name, or `CNI_7`. */
export function errorLabel(error: unknown): string {
  return error instanceof CniError ? `CNI_${error.code}` : asPodwireError(error).code;
}

/**
 * The error object for the runtime (CNI specification 1.1.0, section 5, "Error"). `details` says what can be done.
 * Codes 50 and 51 belong to STATUS alone: to any other command an agent that is not ready says "try again later".
 */
export function toCniError(error: unknown, command: Command | undefined, version?: string): CniError {
  const cniError = error instanceof CniError ? error : fromPodwire(asPodwireError(error), command);
  // An error of the parser knows the version that it had read already.
  return version === undefined || cniError.cniVersion !== undefined
    ? cniError
    : cniError.withVersion(version);
}

/** With its code in front, if it has one: docs/errors.md says what that means. */
export function describeWithCode(error: unknown): string {
  return error instanceof PodwireError ? `${error.code}: ${describeError(error)}` : describeError(error);
}

function fromPodwire(error: PodwireError, command: Command | undefined): CniError {
  return new CniError(cniCode(error, command), describeWithCode(error), {
    ...compact({ details: error.action }),
    cause: error,
  });
}

function cniCode({ code, details }: PodwireError, command: Command | undefined): number {
  if (command === 'STATUS' && meanNotAvailable.has(code)) {
    return details['limitedConnectivity'] === true ? errorCodes.limitedConnectivity : errorCodes.notAvailable;
  }
  return code === 'AGENT_NOT_READY' ? errorCodes.tryAgainLater : errorCatalogue[code].cni;
}

/** Codes that STATUS reports as "an ADD could not be served now". */
const meanNotAvailable: ReadonlySet<ErrorCode> = new Set([
  'AGENT_NOT_READY',
  'POOL_EXHAUSTED',
  'NODE_NAME_TAKEN',
  'NODE_FENCED',
]);

/** Anything thrown as a coded error; what has no code is a defect. The reason of `AbortSignal.timeout` is a DOMException. */
export function asPodwireError(error: unknown): PodwireError {
  if (error instanceof PodwireError) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new PodwireError('DEADLINE_EXCEEDED', 'it took too long', { cause: error });
  return new PodwireError('INTERNAL', 'unexpected error', { cause: error });
}

/** The one error of several that were collected, `undefined` of none. */
export function joinErrors(message: string, errors: readonly unknown[]): unknown {
  if (errors.length <= 1) return errors[0];
  const cause = new AggregateError(errors, `${errors.length} failures`);
  return new PodwireError('REMOVE_INCOMPLETE', message, { cause });
}
