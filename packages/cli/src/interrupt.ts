import { EventEmitter } from 'node:events';
import { InterruptedError } from './failure.js';
import { exitCodes, type Io } from './io.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Not SIGPIPE itself: Node ignores it only until a listener is added. From then on it comes for every socket too whose other side
 * has gone, and without listeners it ends the process.
 */
const output = new EventEmitter<{ broken: [] }>();

/**
 * Tells work under {@link withInterrupt} that the reader of its output is gone.
 * @returns whether there is such work
 */
export const breakOutput = (): boolean => output.emit('broken');

/**
 * Runs work that must put things away: the first SIGINT, SIGTERM or SIGHUP, or output without a reader (SIGPIPE), aborts its
 * signal, and when the work has ended this throws. A second signal ends the process at once.
 * @throws InterruptedError after a signal, whatever the work made of it
 */
export async function withInterrupt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController();
  const stop = (signal: (typeof signals)[number]): void => {
    if (stopped.signal.aborted) process.exit(exitCodes.failed);
    stopped.abort(new InterruptedError(signal));
  };
  const stopQuietly = (): void => stopped.abort(new InterruptedError('SIGPIPE'));
  for (const signal of signals) process.on(signal, stop);
  output.on('broken', stopQuietly);
  try {
    const result = await work(stopped.signal);
    stopped.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error;
  } finally {
    for (const signal of signals) process.off(signal, stop);
    output.off('broken', stopQuietly);
  }
}

/** For work without an end of its own: a signal ends it normally, with an exit code and no message. */
export async function untilInterrupted(io: Io, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await withInterrupt(work);
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    io.exitCode = exitCodes[error.signal];
  }
}
