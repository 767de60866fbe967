import { CniError, errorCodes, PluginError, RollbackError } from '@podwire/cni';

/** Characters of standard error that a message repeats; all of it is in the log. */
const mostStderr = 1000;

/**
 * All that went wrong in one operation, each failure with the plugin's name, how it ended, and its standard error: "no error
 * message" does not help (cni #732).
 */
export function describeFailures(errors: readonly unknown[]): string {
  return errors.flatMap(unfold).map(describeOne).join('; ');
}

/** An ADD and the failure to undo it are two things; a garbage collection has as many as it met. */
function unfold(error: unknown): readonly unknown[] {
  if (error instanceof RollbackError) {
    const { code, addError, rollbackError } = error;
    if (isSaidAlike(addError, rollbackError))
      return [...unfold(addError), new CniError(code, 'undoing it failed in the same way')];
    return [...unfold(addError), new CniError(code, 'undoing it failed too'), ...unfold(rollbackError)];
  }
  if (error instanceof CniError && error.cause instanceof AggregateError)
    return error.cause.errors.flatMap(unfold);
  return [error];
}

/** A plugin that says in an error object why it failed exits with 1: that tells no more. */
const isExpected = ({ exitCode, code }: PluginError): boolean =>
  exitCode === 1 && code !== errorCodes.internal;

/** An agent that does not answer answers neither the ADD nor the DEL. */
function isSaidAlike(one: CniError, other: CniError): boolean {
  if (!(one instanceof PluginError && other instanceof PluginError)) return false;
  return one.pluginMessage === other.pluginMessage && one.details === other.details;
}

function describeOne(error: unknown): string {
  if (!(error instanceof PluginError)) {
    const { message, details } = CniError.from(error);
    return details === undefined ? message : `${message}: ${details}`;
  }
  const { message, exitCode, exitSignal } = error;
  const end = exitCode === null ? `killed by ${exitSignal}` : `exit status ${exitCode}`;
  const stderr = error.stderr.trim().slice(-mostStderr);
  const details = (error.details ?? '').startsWith('standard error: ') ? '' : (error.details ?? '');
  const facts = [
    isExpected(error) || message.includes(end) ? '' : end,
    details,
    stderr === '' || message.includes(stderr) ? '' : `stderr: ${stderr}`,
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? message : `${message} (${facts.join(', ')})`;
}
