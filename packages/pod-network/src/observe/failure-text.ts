import { CniError, PluginError, RollbackError } from '@podwire/cni';

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
    return [
      ...unfold(error.addError),
      new CniError(error.code, 'undoing it failed too'),
      ...unfold(error.rollbackError),
    ];
  }
  if (error instanceof CniError && error.cause instanceof AggregateError)
    return error.cause.errors.flatMap(unfold);
  return [error];
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
    message.includes(end) ? '' : end,
    details,
    stderr === '' || message.includes(stderr) ? '' : `stderr: ${stderr}`,
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? message : `${message} (${facts.join(', ')})`;
}
