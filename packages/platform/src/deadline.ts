/**
 * Reliable deadlines. `AbortSignal.any([signal, AbortSignal.timeout(n)])` is not one: nothing holds a reference to the
 * timeout, and Node 20 may garbage-collect it before it fires (nodejs/node#57736).
 */
import { onAbort } from './abort.js';
import { type Clock, longestTimer, systemClock } from './environment.js';

/** A signal that aborts after so many milliseconds (reason: TimeoutError), or when `signal` does, with its reason. */
export function deadlineSignal(milliseconds: number, signal?: AbortSignal): AbortSignal {
  return startDeadline(milliseconds, signal, {}).signal;
}

export interface DeadlineOptions {
  /** Measures the deadline; a timer of Node by default. */
  readonly clock?: Pick<Clock, 'sleep'> | undefined;
  /** The reason of the signal when the deadline has passed; a TimeoutError by default. */
  readonly reason?: (() => unknown) | undefined;
  /** Makes the reason from that of the outer signal; the same by default. */
  readonly outerReason?: ((reason: Error) => unknown) | undefined;
}

/**
 * Runs work with a signal that aborts after so many milliseconds, or when `signal` does. Work that ignores its signal is
 * awaited; `orAborted(work(either), either)` leaves it behind. The timer ends with the work.
 */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (either: AbortSignal) => Promise<T>,
  options: DeadlineOptions = {},
): Promise<T> {
  const deadline = startDeadline(milliseconds, signal, options);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.clear();
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  clear(): void;
}

function startDeadline(
  milliseconds: number,
  signal: AbortSignal | undefined,
  { clock, reason = timeoutError, outerReason = (same) => same }: DeadlineOptions,
): Deadline {
  const over = new AbortController();
  const expire = (): void => end(reason());
  const stopTimer =
    clock === undefined || clock === systemClock
      ? startTimer(milliseconds, expire, clock === undefined)
      : sleep(clock, milliseconds, expire);
  let unsubscribe = (): void => undefined;
  const clear = (): void => {
    stopTimer();
    unsubscribe();
  };
  const end = (why: unknown): void => {
    clear();
    over.abort(why);
  };
  unsubscribe = onAbort(signal, (why) => end(outerReason(why)));
  return { signal: over.signal, clear };
}

/**
 * The timer holds the controller. In the background it does not keep the process alive; a sleep of the system's clock does. It
 * costs a tenth of such a sleep, which makes two errors with their stacks when it is aborted.
 */
function startTimer(milliseconds: number, expire: () => void, inBackground: boolean): () => void {
  const timer = setTimeout(expire, Math.min(milliseconds, longestTimer));
  if (inBackground) timer.unref();
  return () => clearTimeout(timer);
}

function sleep(clock: Pick<Clock, 'sleep'>, milliseconds: number, expire: () => void): () => void {
  const cancelled = new AbortController();
  clock.sleep(milliseconds, cancelled.signal).then(expire, () => undefined);
  return () => cancelled.abort();
}

const timeoutError = (): DOMException => new DOMException('the deadline has passed', 'TimeoutError');
