import { type ChildProcess, spawn } from 'node:child_process';
import { findProgram, inNamespace, type NamespaceReference } from '@podwire/linux';
import { onAbort } from '@podwire/platform';
import { NftablesError } from './errors.js';

/** Of a run without a deadline of its caller. */
const DEFAULT_TIMEOUT_MS = 30_000;

export interface NftOptions {
  /** The deadline: when it is aborted, nft is killed and the signal's reason thrown. A transaction may have gone through. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one run of nft, whatever the caller's deadline. When absent, 30,000 if there is no signal either. */
  readonly timeout?: number | undefined;
  /** Absolute path of the program; looked for once in PATH and the usual directories when absent. */
  readonly nftPath?: string | undefined;
  /** Where to run it; the caller's own network namespace when absent. */
  readonly namespace?: NamespaceReference | undefined;
}

/** nft refused a script or could not be run. `code` is the errno's name where nft's words tell it, else `ENFT`. */
export class NftProgramError extends NftablesError {
  /** Everything that nft wrote. */
  readonly stderr: string;
  /** Number and text of the first line of the script that nft complains about. */
  readonly line: { readonly number: number; readonly text: string } | undefined;

  constructor(args: readonly string[], script: string, stderr: string, outcome: string) {
    const line = failingLine(script, stderr);
    const complaint = /Error: (.*)/.exec(stderr)?.[1] ?? outcome;
    const where = line === undefined ? '' : `, line ${line.number}: ${line.text}`;
    const { code, errno } = codeOf(complaint);
    super([{ label: `nft ${args.join(' ')}${where}`, code, errno, kernelMessage: complaint }]);
    this.name = 'NftProgramError';
    this.stderr = stderr;
    this.line = line;
  }
}

function failingLine(script: string, stderr: string): NftProgramError['line'] {
  const number = Number(/^\/dev\/stdin:(\d+):/m.exec(stderr)?.[1] ?? Number.NaN);
  const text = script.split('\n')[number - 1];
  return text === undefined ? undefined : { number, text: text.trim() };
}

/** glibc's words for what the kernel answers most (nft prints nothing else of it), and our own. */
const words = [
  ['No such file or directory', 'ENOENT', 2],
  ['File exists', 'EEXIST', 17],
  ['Device or resource busy', 'EBUSY', 16],
  ['Operation not permitted', 'EPERM', 1],
  ['Permission denied', 'EACCES', 13],
  ['Operation not supported', 'EOPNOTSUPP', 95],
  ['Invalid argument', 'EINVAL', 22],
  ['Cannot allocate memory', 'ENOMEM', 12],
  ['no end after', 'ETIMEDOUT', 110],
] as const;

function codeOf(complaint: string): { code: string; errno: number } {
  const found = words.find(([text, code]) => complaint.includes(text) || complaint === `spawn ${code}`);
  return { code: found?.[1] ?? 'ENFT', errno: found?.[2] ?? 0 };
}

/** Loads a script (nft(8)) in one transaction. @throws NftProgramError with the failing line. */
export async function loadRuleset(script: string, options: NftOptions = {}): Promise<void> {
  await runNft(['-f', '-'], script, options);
}

/** Runs nft in a process group of its own and returns what it wrote to standard output. */
export async function runNft(args: readonly string[], script: string, options: NftOptions): Promise<string> {
  const { signal, nftPath = findNft(), namespace } = options;
  const { timeout = signal === undefined ? DEFAULT_TIMEOUT_MS : undefined } = options;
  signal?.throwIfAborted();
  const begin = () => start(nftPath, args);
  // A fork inherits the namespace of the calling thread, and spawn forks before it returns.
  const child = namespace === undefined ? begin() : inNamespace(namespace, begin);
  if (child.pid !== undefined) noteRun(child.pid);
  const stop = () => killGroup(child);
  const unsubscribe = signal === undefined ? () => undefined : onAbort(signal, stop);
  let late = false;
  const expire = () => {
    late = true;
    stop();
  };
  const timer = timeout === undefined ? undefined : setTimeout(expire, timeout);
  try {
    const { outcome, stdout, stderr } = await finish(child, script);
    signal?.throwIfAborted();
    if (late) throw new NftProgramError(args, script, '', `no end after ${timeout} ms`);
    if (outcome !== 'exit code 0') throw new NftProgramError(args, script, stderr, outcome);
    return stdout;
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}

/** Process ids of the last runs: the kernel names them as the cause of what they have changed. */
const runs: number[] = [];
const RUNS_KEPT = 64;

function noteRun(pid: number): void {
  runs.push(pid);
  if (runs.length > RUNS_KEPT) runs.shift();
}

/** Reports if the process was one of the last runs of nft that this program has started. */
export const isOwnRun = (pid: number): boolean => runs.includes(pid);

function start(nftPath: string, args: readonly string[]): ChildProcess {
  // detached: a session and so a process group of its own. LC_ALL: complaints are read by failingLine and codeOf.
  return spawn(nftPath, args, { detached: true, stdio: 'pipe', cwd: '/', env: { LC_ALL: 'C' } });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

interface Finished {
  readonly outcome: string;
  readonly stdout: string;
  readonly stderr: string;
}

async function finish(child: ChildProcess, script: string): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  // nft may end before it has read everything; why is in its exit code.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(script);
  return await new Promise<Finished>((resolve) => {
    // Only a failed start: the exit of a started program comes as `close`.
    child.once('error', (error) =>
      resolve({ ...output, outcome: `spawn ${(error as NodeJS.ErrnoException).code}` }),
    );
    child.once('close', (code, signal) => {
      resolve({ ...output, outcome: signal === null ? `exit code ${code}` : `killed by ${signal}` });
    });
  });
}

let found: string | undefined;

/** The program's absolute path, looked for once. @throws NftablesError `ENOENT` when it is not installed. */
export function findNft(): string {
  found ??= findProgram('nft');
  if (found !== undefined) return found;
  const kernelMessage = 'the program nft is not installed (package nftables)';
  throw new NftablesError([{ label: 'find nft', code: 'ENOENT', errno: 2, kernelMessage }]);
}
