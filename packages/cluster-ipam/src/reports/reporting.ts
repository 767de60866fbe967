/** When reports are written: some time after something has changed, several changes together. */
import type { Core } from '../core.js';
import { noteRefusal } from '../refusals.js';
import { pauseAfter } from '../waiting.js';
import type { Reports } from './reports.js';

export interface Reporting {
  start(): void;
  wake(): void;
  flush(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export function createReporting(core: Core, reports: Reports): Reporting {
  const { clock, stopped, timing, log, reportEvery } = core;
  let wakeSleeper = (): void => undefined;
  let running: Promise<void> | undefined;
  let failures = 0;

  const flush = async (signal: AbortSignal): Promise<void> => {
    while (await reports.writeSome(signal));
  };

  async function loop(): Promise<void> {
    while (!stopped.aborted) {
      await somethingToSay();
      await pause(failures === 0 ? reportEvery : Math.max(reportEvery, pauseAfter(failures, timing)));
      if (stopped.aborted) return;
      try {
        await core.turns('reports').take(stopped, () => flush(stopped));
        failures = 0;
        noteRefusal(core, 'reports', undefined);
      } catch (err) {
        failures++;
        noteRefusal(core, 'reports', err);
        if (!stopped.aborted)
          log.debug({ err, failures }, 'the report did not reach the store; it is tried again');
      }
    }
  }

  function somethingToSay(): Promise<void> {
    if (reports.unreported > 0 || stopped.aborted) return Promise.resolve();
    return new Promise((resolve) => (wakeSleeper = resolve));
  }

  stopped.addEventListener('abort', () => wakeSleeper(), { once: true });

  const pause = (milliseconds: number): Promise<void> =>
    clock.sleep(milliseconds, stopped).catch(() => undefined);

  return {
    start: () => void (running ??= loop()),
    wake: () => wakeSleeper(),
    flush: (signal) => core.turns('reports').take(signal, () => flush(signal)),
    stop: async () => running,
  };
}
