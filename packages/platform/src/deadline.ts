/**
 * Deadlines that come. `AbortSignal.any([signal, AbortSignal.timeout(n)])` is none: nobody else holds that timeout, and
 * Node 20 takes it away with the next garbage (nodejs/node#57736).
 */

/** Milliseconds. Node takes what does not fit into 31 bits for one: a timer of a month would be over at once. */
export const longestTimer = 2 ** 31 - 1;

/** A signal that aborts after so many milliseconds (reason: TimeoutError), or with `signal` and its reason. */
export function deadlineSignal(milliseconds: number, signal?: AbortSignal): AbortSignal {
  return startDeadline(milliseconds, signal).signal;
}

/** Runs work with such a signal; when it has ended, nothing of the deadline is left. */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(milliseconds, signal);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.clear();
  }
}

function startDeadline(
  milliseconds: number,
  signal: AbortSignal | undefined,
): { readonly signal: AbortSignal; clear(): void } {
  const over = new AbortController();
  const stop = (): void => end(signal?.reason);
  // The timer holds the controller, and is no reason for a process to stay.
  const timer = setTimeout(
    () => end(new DOMException('time is up', 'TimeoutError')),
    Math.min(milliseconds, longestTimer),
  ).unref();
  const clear = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  };
  const end = (reason: unknown): void => {
    clear();
    over.abort(reason);
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  return { signal: over.signal, clear };
}
