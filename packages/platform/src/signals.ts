/**
 * The work's outcome, or the signal's reason, whichever comes first. The work goes on: others may wait for it too.
 * What it says after that, or when the signal had come before, is nobody's business: no unhandled rejection.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Resolves when the signal aborts, at once when it has. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves when `isSo` holds; looked at now and whenever `subscribe`'s listener is called. @throws the signal's reason */
export function waitUntil(
  isSo: () => boolean,
  subscribe: (listener: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> {
  if (isSo()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const unsubscribe = subscribe(() => {
      if (isSo()) end(resolve);
    });
    const stop = (): void => end(() => reject(signal.reason as Error));
    const end = (settle: () => void): void => {
      unsubscribe();
      signal.removeEventListener('abort', stop);
      settle();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}
