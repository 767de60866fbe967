import type { TestNamespace } from './namespaces.js';
import { CommandError } from './processes.js';
import { generous, sendAgain } from './send-again.js';

/**
 * Reports if an ICMP echo is answered; it is sent again until then. {@link startPing} counts lost packets; that nothing
 * passes, `assertBlocked` claims.
 */
export async function pings(
  namespace: TestNamespace,
  address: string,
  timeout: number = generous,
): Promise<boolean> {
  const answered = await sendAgain(timeout, (wait) => pingOnce(namespace, address, wait));
  return answered ?? false;
}

/** Undefined when no answer has come; false when there is no way there (ping(8): exit status 2). */
async function pingOnce(
  namespace: TestNamespace,
  address: string,
  wait: number,
): Promise<boolean | undefined> {
  try {
    await namespace.run(['ping', '-n', '-c', '1', '-W', String(wait / 1_000), address]);
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.exit.code !== null)
      return error.exit.code === 1 ? undefined : false;
    throw error;
  }
}

export interface PingReport {
  readonly sent: number;
  readonly received: number;
  /** Sequence numbers that no answer came for, up to the last one answered. */
  readonly lost: readonly number[];
}

export interface RunningPing {
  /** Resolves when `count` more answers than now have come. */
  waitForAnswers(count: number, timeout?: number): Promise<void>;
  report(): PingReport;
  /** Ends it and reports. */
  stop(): Promise<PingReport>;
}

/** Pings without end, every `interval` milliseconds (50). */
export function startPing(namespace: TestNamespace, address: string, interval = 50): RunningPing {
  const ping = namespace.start(['ping', '-n', '-i', String(interval / 1_000), address]);
  const report = (): PingReport => reportOf(ping.stdout());
  return {
    report,
    waitForAnswers: async (count, timeout = 30_000) => {
      const enough = report().received + count;
      await ping.waitUntil(`${count} answers`, () => (report().received >= enough ? true : undefined), {
        timeout,
      });
    },
    stop: async () => {
      ping.kill('SIGINT');
      await ping.exited;
      return report();
    },
  };
}

/** The very last request may still be under way when ping is interrupted, so it is not called lost. */
function reportOf(output: string): PingReport {
  const answered = new Set(
    [...output.matchAll(/bytes from .*icmp_seq=(\d+)/g)].map((match) => Number(match[1])),
  );
  const sent = Number(/^(\d+) packets transmitted/m.exec(output)?.[1] ?? Math.max(0, ...answered));
  const sequence = Array.from({ length: Math.max(0, sent - 1) }, (_, index) => index + 1);
  return { sent, received: answered.size, lost: sequence.filter((number) => !answered.has(number)) };
}
