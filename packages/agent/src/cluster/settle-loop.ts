/** Work that is called for often and does everything that is due at once: soon after the first call, never beside itself. */
import type { Clock, Log } from '@podwire/platform';

export interface SettleLoop {
  /** Something has changed. */
  soon(): void;
  /** Ends it; resolves when work under way has ended. */
  stop(): Promise<void>;
}

export interface SettleLoopOptions {
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** What the log says when it fails. */
  readonly failure: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between the first call and the work: what comes meanwhile travels with it. */
  readonly gather: number;
  /** Milliseconds until it is tried again after a failure. */
  readonly pause: number;
}

export function createSettleLoop({
  work,
  failure,
  clock,
  log,
  gather,
  pause,
}: SettleLoopOptions): SettleLoop {
  const stopped = new AbortController();
  let isDue = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      while (isDue && !stopped.signal.aborted) {
        await clock.sleep(gather, stopped.signal);
        isDue = false;
        try {
          await work(stopped.signal);
        } catch (err) {
          if (stopped.signal.aborted) return;
          log.error({ err }, failure);
          isDue = true;
          await clock.sleep(pause, stopped.signal);
        }
      }
    } catch {
      // a sleep that was ended by stop
    } finally {
      // With no turn between it and the last look: what comes then would wait for the next call.
      running = undefined;
    }
  }
  return {
    soon() {
      isDue = true;
      if (stopped.signal.aborted) return;
      running ??= run();
    },
    async stop() {
      stopped.abort(new DOMException('stopped', 'AbortError'));
      await running;
    },
  };
}
