/** A server process in its own session, which outlives the program that started it. */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, PodwireError } from '@podwire/errors';
import { endProcesses, isAlive, markProcess, type ProcessMark } from '@podwire/linux';
import { onAbort } from '@podwire/platform';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { OpenRecord } from '../record.js';

export type DaemonState = 'running' | 'frozen' | 'ended';

export interface DaemonOptions {
  /** Name in the record and in messages: `agent of node1`. */
  readonly what: string;
  readonly record: OpenRecord;
  readonly namespace: TestbedNamespace;
  readonly argv: readonly string[];
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Readiness check, called after each write to its log and at least every 100 ms. `log`: since its start. */
  readonly isReady: (log: string, signal: AbortSignal) => boolean | Promise<boolean>;
  /** Milliseconds until it must be ready. */
  readonly patience: number;
  /** The last part of a start: work for what it has made. */
  readonly afterStart?: (signal: AbortSignal) => Promise<void>;
}

export interface Daemon {
  readonly pid: number | undefined;
  state(): DaemonState;
  /** The whole log, of earlier processes too. */
  log(): string;
  /** Resolves when it serves. @throws PodwireError TESTBED_FAILED with the end of its log; the signal's reason */
  start(signal?: AbortSignal, env?: Readonly<Record<string, string>>): Promise<void>;
  /** SIGTERM, after 5 s SIGKILL; resolves when it has ended. */
  stop(): Promise<void>;
  kill9(): Promise<void>;
  /** SIGSTOP; {@link state} reports `frozen` when it has stopped. */
  freeze(): void;
  thaw(): void;
}

export function createDaemon(options: DaemonOptions): Daemon {
  const { what, record, log } = options;
  const mark = (): ProcessMark | undefined => record.current.processes.find((each) => each.what === what);
  const signal = (name: NodeJS.Signals): void => {
    const own = mark();
    if (own !== undefined && isAlive(own)) process.kill(own.pid, name);
  };
  const end = async (now: boolean): Promise<void> => {
    const own = mark();
    if (own === undefined) return;
    signal('SIGCONT');
    await endProcesses([own], { now });
  };
  const state = (): DaemonState => stateOf(mark());
  return {
    get pid() {
      return state() === 'ended' ? undefined : mark()?.pid;
    },
    state,
    log: () => fs.readFileSync(log, 'utf8'),
    start: (stop, env) => startDaemon(options, stop, env),
    stop: () => end(false),
    kill9: () => end(true),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
}

export function stateOf(mark: ProcessMark | undefined): DaemonState {
  if (mark === undefined || !isAlive(mark)) return 'ended';
  try {
    return /^State:\s*T/m.test(fs.readFileSync(`/proc/${mark.pid}/status`, 'utf8')) ? 'frozen' : 'running';
  } catch {
    return 'ended';
  }
}

async function startDaemon(
  { what, record, namespace, argv, log, env: usual, isReady, patience, afterStart }: DaemonOptions,
  stop: AbortSignal = new AbortController().signal,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  stop.throwIfAborted();
  const fd = fs.openSync(log, 'a', 0o600);
  const offset = fs.fstatSync(fd).size;
  const ended = new AbortController();
  try {
    const [program = '', ...args] = argv;
    const env = { ...process.env, ...usual, ...more };
    const child = namespace.spawn(program, args, {
      ...{ stdio: ['ignore', fd, fd], detached: true, env },
      // Its working directory must not keep a mount busy.
      cwd: '/',
    });
    child.once('error', (error) => ended.abort(error));
    child.once('exit', (code, by) => ended.abort(new Error(`it ended with ${by ?? `exit code ${code}`}`)));
    child.unref();
    if (child.pid !== undefined) note(record, markProcess(what, child.pid));
  } finally {
    fs.closeSync(fd);
  }
  const written = (): string => fs.readFileSync(log).toString('utf8', offset);
  try {
    await untilReady(log, written, { isReady, patience, stop, ended: ended.signal });
  } catch (error) {
    if (stop.aborted) throw stop.reason;
    const tail = written().trimEnd().split('\n').slice(-lastLines).join('\n');
    throw new PodwireError('TESTBED_FAILED', `the ${what} does not serve: ${describeError(error)}\n${tail}`);
  }
  await afterStart?.(stop);
}

const lastLines = 12;

function note(record: OpenRecord, mark: ProcessMark): void {
  record.update(({ processes }) => ({
    processes: [...processes.filter(({ what }) => what !== mark.what), mark],
  }));
}

interface Waiting extends Pick<DaemonOptions, 'isReady' | 'patience'> {
  readonly stop: AbortSignal;
  readonly ended: AbortSignal;
}

const lookEvery = 100;

async function untilReady(
  log: string,
  written: () => string,
  { isReady, patience, stop, ended }: Waiting,
): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    stop.throwIfAborted();
    ended.throwIfAborted();
    if (await isReady(written(), stop)) return;
    if (performance.now() > end) throw new Error(`it is not ready after ${patience / 1000} s`);
    await nextLine(log, [stop, ended]);
  }
}

/** Resolves on a write, on abort, or after a short pause. */
async function nextLine(log: string, signals: readonly AbortSignal[]): Promise<void> {
  const over = new AbortController();
  const wake = (): void => over.abort();
  const watcher = fs.watch(log, wake);
  const unsubscribe = signals.map((signal) => onAbort(signal, wake));
  try {
    await sleep(lookEvery, undefined, { signal: over.signal }).catch(() => undefined);
  } finally {
    watcher.close();
    for (const each of unsubscribe) each();
  }
}
