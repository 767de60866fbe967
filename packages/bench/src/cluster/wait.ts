/** The work's outcome, or the signal's reason, whichever comes first: nothing here waits for ever. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // What comes later is nobody's business.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
