/** One more program inside a container. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { CriError } from '@podwire/cri';
import { onAbort } from '@podwire/platform';
import type { StreamCall, TerminalSize } from '@podwire/cri-streaming';
import type { Context } from '../context.js';
import { pidSharing, planCredentials } from '../container/plan.js';
import { readAccounts } from '../container/user.js';
import { encodeSize } from '../native/frames.js';
import { encodeInstruction, type Instruction } from '../native/instruction.js';
import { containerDirectory } from '../state/directory.js';
import { type LiveProcess, needRunning, needSandbox } from '../state/inventory.js';
import type { ContainerRecord, SandboxRecord } from '../state/record.js';

export interface ExecOptions {
  readonly tty: boolean;
  readonly stdin: boolean;
}

/** A program that runs in a container; `child` is podwire-hold, whose streams are the program's. */
export interface RunningExec {
  readonly child: ChildProcess;
  /** Resolves when the program runs. @throws CriError when it cannot be started */
  readonly started: Promise<void>;
  /** Its exit code when all its output has come; 128 + signal. */
  readonly exited: Promise<number>;
  resize(size: TerminalSize): void;
  /** Kills it with its process group. */
  kill(): void;
}

/** @throws CriError NOT_FOUND, FAILED_PRECONDITION */
export function startExec(
  context: Context,
  containerId: string,
  argv: readonly string[],
  options: ExecOptions,
): RunningExec {
  const { record, shim } = needRunning(context.inventory, containerId);
  const sandbox = needSandbox(context.inventory, record.sandboxId).record;
  const file = writeInstruction(context, { record, shim, sandbox }, argv, options);
  const stdin = options.stdin ? 'pipe' : 'ignore';
  const child = spawn(context.pauseProgram, ['exec', file], {
    cwd: '/',
    env: {},
    stdio: [stdin, 'pipe', options.tty ? 'ignore' : 'pipe', 'pipe'],
  });
  // A program that could not be started removes no file.
  child.once('error', () => fs.rmSync(file, { force: true }));
  // At the limit of descriptors (EMFILE) the child has no streams at all.
  const answers = (child.stdio as ChildProcess['stdio'] | undefined)?.[3] as Duplex | undefined;
  answers?.on('error', () => undefined); // it has ended, which `exit` says
  child.stdin?.on('error', () => undefined); // a program need not read its input
  const kill = (): void => void child.kill('SIGTERM');
  if (pidSharing(record.config, sandbox) !== 'own') endWithContainer(shim, child, kill);
  return {
    child,
    started: awaitStart(child, answers, argv[0] ?? ''),
    exited: awaitEnd(child),
    resize: (size) => void answers?.write(encodeSize(size)),
    kill,
  };
}

/** A PID namespace that is not the container's alone does not end with it, nor do the programs in it. */
function endWithContainer(
  { connection: { socket } }: LiveProcess,
  child: ChildProcess,
  kill: () => void,
): void {
  if (child.pid === undefined) return;
  socket.setMaxListeners(0).once('close', kill);
  child.once('exit', () => socket.off('close', kill));
}

interface Place {
  readonly record: ContainerRecord;
  readonly shim: LiveProcess;
  readonly sandbox: SandboxRecord;
}

function writeInstruction(
  context: Context,
  { record, shim, sandbox }: Place,
  argv: readonly string[],
  { tty, stdin }: ExecOptions,
): string {
  const accounts = readAccounts(record.root);
  const instruction: Instruction = [
    ['init', shim.process.pid, shim.process.start],
    ...planCredentials({ ...record.config, tty }, sandbox, accounts),
    ...argv.map((each) => ['arg', each] as const),
    ...(tty ? [['tty'] as const] : []),
    ...(stdin ? [['stdin'] as const] : []),
  ];
  const name = `exec-${randomBytes(8).toString('hex')}`;
  const file = path.join(containerDirectory(context.directory, record.id), name);
  fs.writeFileSync(file, encodeInstruction(instruction), { mode: 0o600 });
  return file;
}

async function awaitStart(child: ChildProcess, answers: Duplex | undefined, program: string): Promise<void> {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    answers?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.endsWith('\n')) resolve(text);
    });
    answers?.once('close', () => resolve(text));
  });
  if (answer === 'ok\n') return;
  const why = /^error (.*)/.exec(answer)?.[1] ?? 'it ended before it was started';
  throw new CriError('UNKNOWN', describeStart(program, why));
}

/** execve(2) itself has failed: said in runc's words, by which clients know 126 and 127. */
function describeStart(program: string, why: string): string {
  const [, reason] = /^start .*: ([^:]*)$/.exec(why) ?? [];
  if (reason === undefined) return `exec ${program}: ${why}`;
  const isMissing = reason === 'No such file or directory';
  return `exec: "${program}": ${isMissing ? 'executable file not found' : reason.toLowerCase()}`;
}

async function awaitEnd(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 137));
  });
}

/** Joins a client's streams to a program. @returns its exit code */
export async function execStream(
  context: Context,
  containerId: string,
  argv: readonly string[],
  call: StreamCall,
): Promise<number> {
  call.signal.throwIfAborted();
  const running = startExec(context, containerId, argv, { tty: call.tty, stdin: call.stdin !== undefined });
  const { child, exited } = running;
  exited.catch(() => undefined); // the start says the same
  const kill = (): void => {
    running.kill();
    // The client is gone; the output must still be read, or the program's end would never be seen.
    for (const output of [child.stdout, child.stderr]) output?.unpipe().resume();
  };
  const unsubscribe = onAbort(call.signal, kill);
  try {
    if (child.stdin) call.stdin?.pipe(child.stdin);
    joinOutput(child.stdout, call.stdout);
    joinOutput(child.stderr, call.stderr);
    await running.started;
    void followSizes(call, running);
    return await exited;
  } finally {
    unsubscribe();
    if (child.stdin) call.stdin?.unpipe(child.stdin);
  }
}

/** Unwanted output is read all the same, or the program would block. Ends stay open: they are the server's. */
function joinOutput(from: NodeJS.ReadableStream | null, to: NodeJS.WritableStream | undefined): void {
  if (to === undefined) from?.resume();
  else from?.pipe(to, { end: false });
}

async function followSizes({ sizes }: StreamCall, running: RunningExec): Promise<void> {
  try {
    for await (const size of sizes) running.resize(size);
  } catch {
    // The client is gone, which ends the program anyway.
  }
}
