/** Waiting that ends with an AbortSignal. */

/**
 * Calls `listener` once with the signal's reason: now, if the signal has aborted already, else when it does. Returns how to
 * unsubscribe. The listener may run before this returns.
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: Error) => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    listener(signal.reason as Error);
    return () => undefined;
  }
  const call = (): void => listener(signal.reason as Error);
  signal.addEventListener('abort', call, { once: true });
  return () => signal.removeEventListener('abort', call);
}

/**
 * The outcome of the work, or the signal's reason, whichever comes first. The work goes on, since others may wait for it; its
 * later rejection is not an unhandled one.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let unsubscribe = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    unsubscribe = onAbort(signal, reject);
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    unsubscribe();
  }
}

/** Resolves when the signal aborts; at once if it has. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, () => resolve()));
}

/** Resolves when `isSo` holds; it is checked now and at each call of `subscribe`'s listener. @throws the signal's reason */
export function waitUntil(
  isSo: () => boolean,
  subscribe: (listener: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> {
  if (isSo()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let unsubscribeAbort = (): void => undefined;
    const end = (settle: () => void): void => {
      unsubscribe();
      unsubscribeAbort();
      settle();
    };
    const unsubscribe = subscribe(() => {
      if (isSo()) end(resolve);
    });
    unsubscribeAbort = onAbort(signal, (reason) => end(() => reject(reason)));
  });
}

/** Sleeps. @returns false if the signal came first */
export async function pause(
  clock: { sleep(milliseconds: number, signal: AbortSignal): Promise<void> },
  milliseconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  return clock.sleep(milliseconds, signal).then(
    () => true,
    () => false,
  );
}

/** Does the work, sleeps, and so on until the signal. The work handles its own errors. */
export async function repeat(
  clock: { sleep(milliseconds: number, signal: AbortSignal): Promise<void> },
  interval: () => number,
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    if (!(await pause(clock, interval(), signal))) return;
  }
}
