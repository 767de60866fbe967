/** The pod agent as a service: SIGHUP, and what the service manager is told. */
import { openServiceNotifier } from '@podwire/linux';
import type { Log } from '@podwire/platform';
import type { OptionFile, OptionValues } from './option-file.js';

/** Where a pod agent has its settings from, besides the command line. */
export interface PodAgentConfiguration {
  /** Options of the command line; they count more than the file. */
  readonly given: OptionValues;
  /** Absent: from the command line alone. */
  readonly initial?: OptionFile | undefined;
  /** @throws PodwireError CONFIG_INVALID */
  readonly readAgain: () => OptionFile | undefined;
  /** As the file says it; undefined: the default. */
  readonly setLogLevel: (level: string | readonly string[] | undefined) => void;
}

export const withoutFile: PodAgentConfiguration = {
  given: {},
  readAgain: () => undefined,
  setLogLevel: () => undefined,
};

export interface PodAgentService {
  /** @returns ends it */
  listen(reload: () => unknown): () => Promise<void>;
  ready(describe: () => string): void;
}

/** From the first moment: without a listener SIGHUP would end the process. @param ends takes how to close it */
export function openService(log: Log, ends: (() => Promise<void>)[]): PodAgentService {
  const notifier = openServiceNotifier({
    env: process.env,
    pid: process.pid,
    monotonic: () => process.hrtime.bigint() / 1_000n,
    onTrouble: (message) => log.warn({}, message),
  });
  let status = (): string => 'starting';
  let reload = (): unknown => undefined;
  const onHangUp = (): void => {
    notifier.reloading();
    try {
      reload();
    } catch {
      // It is in the log.
    }
    notifier.ready(status());
  };
  process.on('SIGHUP', onHangUp);
  let stopFeeding = (): void => undefined;
  ends.push(() => {
    process.off('SIGHUP', onHangUp);
    notifier.close();
    return Promise.resolve();
  });
  return {
    listen(work) {
      reload = work;
      return () => {
        stopFeeding();
        notifier.stopping();
        return Promise.resolve();
      };
    },
    ready(describe) {
      status = describe;
      notifier.ready(describe());
      stopFeeding = notifier.feedWatchdog(() => true, describe);
    },
  };
}
