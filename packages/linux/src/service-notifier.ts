/**
 * Tells the service manager how a daemon is (sd_notify(3), sd_watchdog_enabled(3)): a datagram of `NAME=VALUE` lines to the
 * socket that the environment names. Without such a socket nothing is sent.
 */
import fs from 'node:fs';
import { send } from './libc.js';
import { openUnixDatagram } from './unix-datagram.js';

export interface ServiceNotifier {
  /** Started, or reloaded. */
  ready(status: string): void;
  /** Describes the service's current work, in a few words, for `systemctl status`. */
  status(text: string): void;
  /** Answered by `ready` when the reload is done. */
  reloading(): void;
  stopping(): void;
  /**
   * Feeds the watchdog as long as `isWorking` says so, twice in each of its periods; a daemon that is stuck is killed by the
   * manager and started again. Does nothing where the unit has no watchdog.
   * @param describe a fresh status each time
   * @returns ends it
   */
  feedWatchdog(isWorking: () => boolean, describe: () => string): () => void;
  close(): void;
}

type Environment = Record<string, string | undefined>;

export interface NotifierOptions {
  /** Loses its variables of the notification, which are not for programs that this one starts. */
  readonly env: Environment;
  readonly pid: number;
  /** CLOCK_MONOTONIC in microseconds. */
  readonly monotonic: () => bigint;
  /** Hears of a message that could not be sent, and of a watchdog that is not fed any more. */
  readonly onTrouble: (message: string) => void;
}

const MSG_NOSIGNAL = 0x4000;

const silent: ServiceNotifier = {
  ready: () => undefined,
  status: () => undefined,
  reloading: () => undefined,
  stopping: () => undefined,
  feedWatchdog: () => () => undefined,
  close: () => undefined,
};

export function openServiceNotifier({ env, pid, monotonic, onTrouble }: NotifierOptions): ServiceNotifier {
  const { NOTIFY_SOCKET: address } = env;
  const period = watchdogPeriod(env, pid);
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (address === undefined || address === '') return silent;
  const fd = attempt(() => openUnixDatagram(address), onTrouble);
  if (fd === undefined) return silent;
  const tell = (...lines: string[]): void => {
    attempt(() => send(fd, Buffer.from(lines.join('\n')), MSG_NOSIGNAL), onTrouble);
  };
  return {
    ready: (status) => tell('READY=1', statusLine(status)),
    status: (text) => tell(statusLine(text)),
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${monotonic()}`, statusLine('reloading')),
    stopping: () => tell('STOPPING=1', statusLine('stopping')),
    feedWatchdog: (isWorking, describe) =>
      period === undefined ? () => undefined : feed({ period, isWorking, describe, tell, onTrouble }),
    close: () => fs.closeSync(fd),
  };
}

/** Milliseconds; undefined when there is none, or when it is another process's. */
function watchdogPeriod({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(pid)) return undefined;
  const microseconds = Number(WATCHDOG_USEC);
  return Number.isSafeInteger(microseconds) && microseconds > 0 ? microseconds / 1_000 : undefined;
}

const statusLine = (text: string): string => `STATUS=${text.replaceAll('\n', ' ')}`;

interface Feeding {
  readonly period: number;
  readonly isWorking: () => boolean;
  readonly describe: () => string;
  readonly tell: (...lines: string[]) => void;
  readonly onTrouble: (message: string) => void;
}

/** The timer is the proof that the event loop turns. */
function feed({ period, isWorking, describe, tell, onTrouble }: Feeding): () => void {
  let wasWorking = true;
  const look = (): void => {
    const works = isWorking();
    if (works) tell('WATCHDOG=1', statusLine(describe()));
    else if (wasWorking) onTrouble('the watchdog is not fed any more: the work has stopped');
    wasWorking = works;
  };
  look();
  const timer = setInterval(look, period / 2);
  timer.unref();
  return () => clearInterval(timer);
}

function attempt<T>(work: () => T, onTrouble: (message: string) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    onTrouble(
      `the service manager could not be told: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
