import { CriError, isCriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';

/** Whatever was thrown, as what callers of a CRI runtime expect. */
export function toCriError(what: string, error: unknown): CriError {
  if (isCriError(error)) return error;
  const isAbort = error instanceof Error && error.name === 'AbortError';
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const code = isAbort ? 'CANCELLED' : isLate ? 'DEADLINE_EXCEEDED' : 'UNKNOWN';
  return new CriError(code, `${what}: ${describeError(error)}`, { cause: error });
}

/** Waits for it. Its failure is reported to the caller that started it. */
export async function ignoreFailure(promise: Promise<unknown> | undefined): Promise<void> {
  await promise?.catch(() => undefined);
}
