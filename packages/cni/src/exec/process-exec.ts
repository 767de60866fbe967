import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '@podwire/platform';
import { CniError, errorCodes } from '../error.js';
import type { Exec, PluginCall, PluginExit } from './exec.js';
import { findPlugin } from './lookup.js';
import { endProcess } from './end-process.js';

export interface ProcessExecOptions {
  /**
   * Milliseconds for a plugin to end by itself when its caller has given up; default 500. host-local makes the file of an address and
   * then writes whose it is: ended in between it leaves an address that no DEL can find.
   */
  readonly finishMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL; default 2000. */
  readonly killGraceMs?: number;
  /** Bytes of standard output that are read; default 1 MiB. A plugin that prints more is ended. */
  readonly maxOutputBytes?: number;
  /** Milliseconds between attempts when the executable is being written (ETXTBSY); default 1000. */
  readonly busyDelayMs?: number;
  /** Attempts in all for an executable that is being written; default 6. */
  readonly busyAttempts?: number;
  /**
   * Start each plugin in a process group of its own and end the group as a whole; default true. A plugin that delegates
   * sets false: what it starts must stay in its own group, to be ended with it.
   */
  readonly ownGroup?: boolean;
  /**
   * Runs the start itself, which is synchronous: a child inherits what the calling thread has at that moment, such as
   * its network namespace. By default the start is just called.
   */
  readonly around?: <T>(start: () => T) => T;
}

/** The part of standard error that is kept: the last one, where programs say why they give up. */
const STDERR_BYTES = 64 * 1024;
/** After the plugin's end, how long its descendants may keep its output open before we stop listening. */
const DRAIN_MS = 200;
/** After a process was ended, how long the news of it may take. */
const ABANDON_MS = 500;

/**
 * Runs plugins as processes: no shell, a process group of its own, environment as given. A plugin whose caller has given up has a
 * moment to finish, then gets SIGTERM, then SIGKILL, and so does everything it started (Go's library kills the direct child only).
 */
export function createProcessExec(options: ProcessExecOptions = {}): Exec {
  const settings: Settings = {
    finishMs: 500,
    killGraceMs: 2000,
    maxOutputBytes: 1 << 20,
    busyDelayMs: 1000,
    busyAttempts: 6,
    ownGroup: true,
    around: (start) => start(),
    ...options,
  };
  return { find: findPlugin, run: (call) => runWithRetry(call, settings) };
}

type Settings = Required<ProcessExecOptions>;

/** An installer may be writing the file right now; Go's library waits as long, but then takes it for a success. */
async function runWithRetry(call: PluginCall, settings: Settings): Promise<PluginExit> {
  for (let attempt = 1; ; attempt++) {
    call.signal?.throwIfAborted();
    try {
      return await runOnce(call, settings);
    } catch (error) {
      if (!isBusy(error)) throw error instanceof CniError ? error : cannotStart(call, error);
      if (attempt >= settings.busyAttempts) throw cannotStart(call, error);
      const { signal } = call;
      // A caller that gives up meanwhile is told above, with the reason: a deadline is a code of its own.
      await sleep(settings.busyDelayMs, undefined, signal && { signal }).catch(() => undefined);
    }
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ETXTBSY';
}

function cannotStart(call: PluginCall, error: unknown): CniError {
  return new CniError(errorCodes.ioFailure, `cannot start ${call.file}: ${(error as Error).message}`, {
    cause: error,
  });
}

async function runOnce(call: PluginCall, settings: Settings): Promise<PluginExit> {
  const options = { env: call.env, stdio: 'pipe', detached: settings.ownGroup } as const;
  const child = settings.around(() => spawn(call.file, [], options));
  if (child.pid === undefined) throw await failureToStart(child);
  const output = collect(child, settings.maxOutputBytes);
  const ending = endOnAbort(child, { now: output.overflow, soon: call.signal }, settings);
  // A plugin need not read its input; writing to one that has ended is no failure.
  child.stdin.on('error', () => undefined);
  child.stdin.end(call.stdin);
  try {
    const exit = await Promise.race([untilClosed(child), ending.abandoned]);
    await ending.settle();
    if (output.overflow.aborted) throw tooMuchOutput(call, settings);
    return { ...exit, stdout: output.stdout(), stderr: output.stderr() };
  } finally {
    ending.stopListening();
  }
}

/** At the limit of descriptors (EMFILE) the child has not even streams; its 'error' event comes all the same. */
function failureToStart(child: ChildProcess): Promise<Error> {
  return new Promise((resolve) => child.once('error', resolve));
}

function tooMuchOutput(call: PluginCall, { maxOutputBytes }: Settings): CniError {
  return new CniError(
    errorCodes.ioFailure,
    `${call.file} printed more than ${maxOutputBytes} bytes and was ended`,
  );
}

/** Resolves when the process has ended and its output is read, or is still held open by others after a moment. */
function untilClosed(child: ChildProcessWithoutNullStreams): Promise<Pick<PluginExit, 'code' | 'signal'>> {
  return new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      drain = setTimeout(() => void setImmediate(stopReading, child), DRAIN_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(drain);
      resolve({ code, signal });
    });
  });
}

/** Called a turn of the event loop after the timer: a busy loop runs timers before it reads what is there. */
function stopReading(child: ChildProcessWithoutNullStreams): void {
  child.stdin.destroy();
  child.stdout.destroy();
  child.stderr.destroy();
}

interface Output {
  stdout(): string;
  stderr(): string;
  /** Aborts when the plugin prints more than is read. */
  readonly overflow: AbortSignal;
}

function collect(child: ChildProcessWithoutNullStreams, maxBytes: number): Output {
  const overflow = new AbortController();
  const stdout: Buffer[] = [];
  let size = 0;
  let stderr = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) overflow.abort();
    else stdout.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_BYTES);
  });
  return {
    stdout: () => Buffer.concat(stdout).toString('utf8'),
    stderr: () => stderr.toString('utf8'),
    overflow: overflow.signal,
  };
}

interface Ending {
  /** Resolves when a group that is being ended is gone; at once when it is not. */
  settle(): Promise<void>;
  /** Resolves when even SIGKILL brought no end: a process stuck in the kernel must not hold its caller too. */
  readonly abandoned: Promise<Pick<PluginExit, 'code' | 'signal'>>;
  stopListening(): void;
}

function endOnAbort(
  child: ChildProcessWithoutNullStreams,
  { now, soon }: { readonly now: AbortSignal; readonly soon: AbortSignal | undefined },
  { finishMs, killGraceMs, ownGroup }: Settings,
): Ending {
  let ended: Promise<void> | undefined;
  let abandon: (exit: Pick<PluginExit, 'code' | 'signal'>) => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  const abandoned = new Promise<Pick<PluginExit, 'code' | 'signal'>>((resolve) => (abandon = resolve));
  const pid = child.pid as number;
  const end = (): void => {
    ended ??= endProcess(ownGroup ? -pid : pid, killGraceMs).then(() => {
      timer = setTimeout(() => (stopReading(child), abandon({ code: null, signal: 'SIGKILL' })), ABANDON_MS);
    });
  };
  const endSoon = (): void => void (patience ??= setTimeout(end, finishMs));
  // Not AbortSignal.any: a caller's signal may live for days, and no listener of a call may stay on it.
  const unsubscribe = [onAbort(now, end), onAbort(soon, endSoon)];
  return {
    settle: async () => ended,
    abandoned,
    stopListening: () => {
      clearTimeout(timer);
      clearTimeout(patience);
      for (const each of unsubscribe) each();
    },
  };
}
