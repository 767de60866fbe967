/** Programs that go on after `podwire up` has ended: the node agent and the pod agent. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, PodwireError } from '@podwire/errors';
import { endProcesses, markProcess } from '@podwire/linux';

export interface Daemon {
  /** `pod agent`, for messages. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly logFile: string;
  /** The error when it does not come up. */
  readonly failure: ErrorCode;
  /** Reports if it answers yet. */
  readonly answers: () => Promise<boolean>;
  /** Milliseconds that it has for that; 20 s when absent. */
  readonly patience?: number;
  readonly inside?: Inside;
  /** Called as soon as it runs: the starting program may be killed before it answers. */
  readonly onStart: (pid: number) => void;
}

/** Runs synchronous work in some network namespace: a child that is started there lives there. */
export type Inside = <T>(work: () => T) => T;

/** Milliseconds. */
const readyDeadline = 20_000;
const pause = 10;

/**
 * Starts a program of its own session, its output in a log; resolves when it answers.
 * @throws PodwireError with the end of its log; the signal's reason
 */
export async function startDaemon(daemon: Daemon, signal: AbortSignal): Promise<void> {
  fs.mkdirSync(path.dirname(daemon.logFile), { recursive: true, mode: 0o700 });
  const output = fs.openSync(daemon.logFile, 'a', 0o600);
  const [file = '', ...args] = daemon.argv;
  // It rotates the file itself; what it says outside of its log (a crash) comes by its output.
  const env = { ...process.env, PODWIRE_LOG_FILE: daemon.logFile };
  const start = () => spawn(file, args, { detached: true, stdio: ['ignore', output, output], env });
  const child = daemon.inside === undefined ? start() : daemon.inside(start);
  fs.closeSync(output);
  try {
    if (child.pid !== undefined) daemon.onStart(child.pid);
    await untilAnswers(daemon, child, signal);
  } catch (error) {
    // Otherwise it would start later, unrecorded.
    if (child.pid !== undefined) await endProcesses([markProcess(daemon.name, child.pid)]);
    throw error;
  } finally {
    child.unref();
  }
}

async function untilAnswers(daemon: Daemon, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const { patience = readyDeadline } = daemon;
  const end = performance.now() + patience;
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, name) => (ended = `it ended with ${name ?? code}`));
  while (!(await daemon.answers())) {
    signal.throwIfAborted();
    if (ended === undefined && performance.now() > end) ended = `no sign within ${patience} ms`;
    if (ended !== undefined) throw didNotStart(daemon, ended);
    await sleep(pause);
  }
}

function didNotStart({ name, logFile, failure }: Daemon, why: string): PodwireError {
  const log = fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  return new PodwireError(failure, `the ${name} did not start: ${why}\n${log}`, {
    details: { logFile },
    action: `${logFile} has more.`,
  });
}
