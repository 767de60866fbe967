import { CriError, isCriError } from '@podwire/cri';
import { describeError, PodwireError } from '@podwire/errors';

/** Whatever was thrown, as what callers of a CRI runtime expect. */
export function toCriError(what: string, error: unknown): CriError {
  if (isCriError(error)) return error;
  const isAbort = error instanceof Error && error.name === 'AbortError';
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const words = describeError(error);
  const code = isAbort ? 'CANCELLED' : isLate ? 'DEADLINE_EXCEEDED' : 'UNKNOWN';
  return new CriError(code, namesItself(error) ? words : `${what}: ${words}`, { cause: error });
}

/** A coded error says which pod it is about. */
const namesItself = (error: unknown): boolean => error instanceof PodwireError;

/** Waits for it. Its failure is reported to the caller that started it. */
export async function ignoreFailure(promise: Promise<unknown> | undefined): Promise<void> {
  await promise?.catch(() => undefined);
}
