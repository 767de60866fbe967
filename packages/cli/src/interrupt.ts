import { InterruptedError } from './failure.js';
import { exitCodes, type Io } from './io.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const;

/**
 * Runs work that must put things away: the first SIGINT, SIGTERM, SIGHUP or SIGPIPE aborts its signal, and when the work has ended
 * this throws. A second one ends the process at once; a second SIGPIPE is only the next line that nobody reads.
 * @throws InterruptedError after a signal, whatever the work made of it
 */
export async function withInterrupt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController();
  const stop = (signal: (typeof signals)[number]): void => {
    if (stopped.signal.aborted && signal === 'SIGPIPE') return;
    if (stopped.signal.aborted) process.exit(exitCodes.failed);
    stopped.abort(new InterruptedError(signal));
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    const result = await work(stopped.signal);
    stopped.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error;
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** For work that goes on until somebody ends it: a signal is its normal end, and says nothing but its exit code. */
export async function untilInterrupted(io: Io, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await withInterrupt(work);
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    io.exitCode = exitCodes[error.signal];
  }
}
