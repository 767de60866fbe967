import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { compact, hasCode, onAbort, withDeadline } from '@podwire/platform';

/** How a program is started. It always becomes the leader of its own process group. */
export interface ProcessOptions {
  /** Replaces the environment; the own one when absent. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Standard output and error are appended to this file instead of being kept here. */
  readonly outputFile?: string;
  /** Runs the actual start, e.g. inside a network namespace; a fork inherits the namespace of the calling thread. */
  readonly around?: (start: () => ChildProcess) => ChildProcess;
}

export interface RunOptions extends ProcessOptions {
  readonly signal?: AbortSignal;
  /** Written to standard input, which is then closed. */
  readonly input?: string | Uint8Array;
  /** milliseconds until the whole group is killed; 30 s when absent */
  readonly timeout?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program ended with something other than exit code 0, or could not be started. */
export class CommandError extends Error {
  readonly argv: readonly string[];
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;

  constructor(argv: readonly string[], exit: Exit, stdout: string, stderr: string) {
    const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
    super(`${argv.join(' ')}: ${how}${stderr === '' ? '' : `\n${stderr.trimEnd()}`}`);
    this.name = 'CommandError';
    this.argv = argv;
    this.exit = exit;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** Programs of this process that still run; what is left when the process exits is killed. */
const running = new Set<RunningProcess>();

process.on('exit', () => {
  for (const left of running) left.kill('SIGKILL');
});

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** milliseconds; 30 s when absent */
  readonly timeout?: number;
}

/** A program that keeps running: its output as it comes, and its end. */
export interface RunningProcess {
  readonly argv: readonly string[];
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Everything written so far to standard output and standard error. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the match when standard output or error match; rejects when the program ends first. */
  waitForOutput(pattern: RegExp, options?: WaitOptions): Promise<RegExpExecArray>;
  /** Resolves when `look`, called whenever output has come, returns something. */
  waitUntil<T>(what: string, look: () => T | undefined | null, options?: WaitOptions): Promise<T>;
  /** Signals the whole process group; a group that is gone is fine. */
  kill(signal?: NodeJS.Signals): void;
  /** SIGSTOP, and waits: a thread of the program may still run until the kernel has stopped it, too. Blocks the caller. */
  freeze(): void;
  /** TERM, and KILL for what has not ended after `grace` milliseconds (5 s). */
  stop(grace?: number): Promise<Exit>;
  readonly child: ChildProcess;
}

/** Starts a program. @throws CommandError (through `exited` and the waits) when it cannot be started. */
export function start(argv: readonly string[], options: ProcessOptions = {}): RunningProcess {
  const [program, ...args] = argv;
  if (program === undefined) throw new TypeError('an empty argument list');
  const file = options.outputFile === undefined ? undefined : fs.openSync(options.outputFile, 'a', 0o600);
  const output = file ?? 'pipe';
  const begin = (): ChildProcess =>
    spawn(program, args, {
      detached: true,
      stdio: ['pipe', output, output],
      ...compact({ env: options.env, cwd: options.cwd }),
    });
  try {
    return follow(argv, options.around === undefined ? begin() : options.around(begin));
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

function follow(argv: readonly string[], child: ChildProcess): RunningProcess {
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      for (const look of watchers) look();
    });
  }
  // A program that does not read its input closes the pipe early; that is its right.
  child.stdin?.on('error', () => undefined);
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const self: RunningProcess = {
    argv,
    child,
    pid: child.pid ?? -1,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    waitUntil: (what, look, wait = {}) => waitUntil(self, watchers, what, look, wait),
    waitForOutput: (pattern, wait) =>
      self.waitUntil(String(pattern), () => pattern.exec(output.stdout) ?? pattern.exec(output.stderr), wait),
    kill: (signal = 'SIGKILL') => killGroup(self.pid, signal),
    freeze: () => freeze(self),
    stop: (grace = 5_000) => stopProcess(self, grace),
  };
  running.add(self);
  exited.then(
    () => running.delete(self),
    () => running.delete(self),
  );
  return self;
}

async function waitUntil<T>(
  self: RunningProcess,
  watchers: Set<() => void>,
  what: string,
  look: () => T | undefined | null,
  { signal, timeout = 30_000 }: WaitOptions,
): Promise<T> {
  let watcher = (): void => undefined;
  const untilFound = (either: AbortSignal): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      watcher = () => {
        const found = look();
        if (found !== undefined && found !== null) resolve(found);
      };
      watchers.add(watcher);
      const fail = (why: string): void =>
        reject(new Error(`${self.argv.join(' ')}: ${why} before ${what}\n${self.stdout()}${self.stderr()}`));
      onAbort(either, () => fail('no sign'));
      self.exited.then(
        (exit) => fail(`ended (${exit.signal ?? exit.code})`),
        (error: unknown) => fail(String(error)),
      );
      watcher();
    });
  try {
    return await withDeadline(signal, timeout, untilFound);
  } finally {
    watchers.delete(watcher);
  }
}

/** Milliseconds that a thread may need to leave the kernel, where it waits for a disk. */
const longestStop = 10_000;

function freeze(self: RunningProcess): void {
  self.kill('SIGSTOP');
  const end = performance.now() + longestStop;
  while (!readThreadStates(self.pid).every((state) => 'TtZX'.includes(state))) {
    if (performance.now() > end) throw new Error(`${self.argv.join(' ')} does not stop`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** One letter for each thread, as in proc(5): `T` for one that is stopped. Empty when there is no such program (any more). */
export function readThreadStates(pid: number): string[] {
  const tasks = `/proc/${pid}/task`;
  const ids = readUnlessGone(() => fs.readdirSync(tasks)) ?? [];
  const texts = ids.flatMap(
    (id) => readUnlessGone(() => fs.readFileSync(`${tasks}/${id}/stat`, 'utf8')) ?? [],
  );
  // The state follows the name in parentheses.
  return texts.map((text) => text.charAt(text.lastIndexOf(')') + 2));
}

function readUnlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

async function stopProcess(self: RunningProcess, grace: number): Promise<Exit> {
  self.kill('SIGTERM');
  const timer = setTimeout(() => self.kill('SIGKILL'), grace);
  try {
    return await self.exited;
  } finally {
    clearTimeout(timer);
  }
}

/** Signals the process group of `pid`, which must be one that {@link start} made. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Runs a program to its end. @throws CommandError unless it exits with 0; the signal's reason when aborted. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  const child = start(argv, options);
  const abort = (): void => child.kill('SIGKILL');
  const unsubscribe = onAbort(options.signal, abort);
  const timer = setTimeout(abort, options.timeout ?? 30_000);
  try {
    child.child.stdin?.end(options.input ?? '');
    const exit = await child.exited;
    options.signal?.throwIfAborted();
    if (exit.code !== 0) throw new CommandError(argv, exit, child.stdout(), child.stderr());
    return child.stdout();
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}
