/** A BIRD of our own, in the foreground, as a child. Where the system runs one already, none is started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { PodwireError } from '@podwire/errors';
import { type Clock, type Log, withDeadline } from '@podwire/platform';
import { askBird } from './control.js';

export interface BirdDaemonOptions {
  /** Absolute. Debian: /usr/sbin/bird */
  readonly program: string;
  readonly configFile: string;
  readonly socketFile: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface BirdDaemon {
  readonly pid: number | undefined;
  /** Ends it; routes that it has put into the kernel stay. */
  stop(): Promise<void>;
}

/** Milliseconds until a daemon that ended is started again: doubling up to the last. */
const firstPause = 500;
const lastPause = 30_000;
const startDeadline = 10_000;
/** It shuts its sessions down politely; a daemon that cannot is killed. */
const stopDeadline = 5_000;

/**
 * Starts the daemon, waits until it answers, and starts it again whenever it ends. One that answers already was ours before we were
 * killed: it makes room, since no other program would end it, and two do not run on one socket.
 * @throws PodwireError PREREQUISITE_MISSING, BGP_REFUSED
 */
export async function startBird(options: BirdDaemonOptions, signal: AbortSignal): Promise<BirdDaemon> {
  const { program, log, clock } = options;
  if (!fs.existsSync(program)) {
    throw new PodwireError(
      'PREREQUISITE_MISSING',
      `${program} is not there; Debian has it in the package bird2`,
    );
  }
  await withDeadline(signal, startDeadline, (either) => untilThereIsRoom(options, either));
  const stopped = new AbortController();
  let child = launch(options);
  const guarding = guard();

  async function guard(): Promise<void> {
    for (let pause = firstPause; !stopped.signal.aborted; pause = Math.min(pause * 2, lastPause)) {
      const since = clock.elapsed();
      const [code, by] = (await ended(child)) as [number | null, string | null];
      if (stopped.signal.aborted) return;
      if (clock.elapsed() - since > lastPause) pause = firstPause;
      log.error({ code, signal: by, pause }, 'the BGP daemon has ended; it is started again');
      await clock.sleep(pause, stopped.signal).catch(() => undefined);
      if (!stopped.signal.aborted) child = launch(options);
    }
  }

  const daemon: BirdDaemon = {
    get pid() {
      return child.pid;
    },
    async stop() {
      stopped.abort();
      await end(child);
      await guarding;
    },
  };
  try {
    await withDeadline(signal, startDeadline, (either) => untilItAnswers(options, either));
    return daemon;
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

function launch({ program, configFile, socketFile, log }: BirdDaemonOptions): ChildProcess {
  const child = spawn(program, ['-f', '-R', '-c', configFile, '-s', socketFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => log.info({ said: text.trim() }, 'BGP daemon'));
  child.on('error', (err) => log.error({ err }, 'the BGP daemon could not be started'));
  return child;
}

async function ended(child: ChildProcess): Promise<unknown[]> {
  if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, child.signalCode];
  if (child.pid === undefined) return [null, null];
  return once(child, 'exit');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopDeadline);
  await gone;
  clearTimeout(timer);
}

/** Its sessions and routes wait for the next one (RFC 4724). */
async function untilThereIsRoom(
  { socketFile, clock, log }: BirdDaemonOptions,
  signal: AbortSignal,
): Promise<void> {
  const ask = (command: string) => askBird(socketFile, command, { deadline: 1_000, signal });
  const answers = (): Promise<boolean> =>
    ask('show status').then(
      () => true,
      () => false,
    );
  if (!(await answers())) return signal.throwIfAborted();
  log.warn({ socket: socketFile }, 'a BGP daemon of an earlier life makes room for a new one');
  // Older versions know only the ordinary end.
  await ask('graceful restart').catch(() => ask('down').catch(() => undefined));
  while (await answers()) await clock.sleep(20, signal);
  signal.throwIfAborted();
}

async function untilItAnswers({ socketFile, clock }: BirdDaemonOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await askBird(socketFile, 'show status', { deadline: 1_000, signal });
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      await clock.sleep(20, signal).catch(() => undefined);
    }
  }
}
