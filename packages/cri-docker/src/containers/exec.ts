/** Programs inside running containers: to their end (ExecSync), or joined to streams of a client (Exec, Attach). */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Duplex, Writable } from 'node:stream';
import { CriError } from '@podwire/cri';
import { compact, withDeadline } from '@podwire/platform';
import { createFrameReader, type Docker, type Frame } from '../docker/index.js';
import type { StreamCall } from '@podwire/cri-streaming';
import { inspectRunning, type Own } from './lookup.js';

export interface ExecOutcome {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly exitCode: number;
}

/** Of each stream; messages of the interface hold 16 MiB in all. */
const outputCap = 7 * 1024 * 1024;

/**
 * @param milliseconds that the program has; 0: as long as it takes
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION, DEADLINE_EXCEEDED (the program is killed), RESOURCE_EXHAUSTED
 */
export async function execSync(
  own: Own,
  id: string,
  argv: readonly string[],
  milliseconds: number,
  signal: AbortSignal,
): Promise<ExecOutcome> {
  const { Id } = await inspectRunning(own, id, signal);
  const { docker } = own;
  const options = { argv, tty: false, stdin: false, stdout: true, stderr: true };
  const execId = await docker.createExec(Id, options, { signal });
  const run = (either: AbortSignal): Promise<ExecOutcome> =>
    runToEnd(docker, { containerId: Id, execId }, either, signal);
  if (milliseconds === 0) return run(signal);
  return withDeadline(signal, milliseconds, async (either) => {
    try {
      return await run(either);
    } catch (cause) {
      if (signal.aborted || !either.aborted) throw cause;
      const message = `the command did not end within ${milliseconds / 1000} s`;
      throw new CriError('DEADLINE_EXCEEDED', message, { cause });
    }
  });
}

/** A program that does not end is killed. */
async function runToEnd(
  docker: Docker,
  { containerId, execId }: { readonly containerId: string; readonly execId: string },
  limit: AbortSignal,
  signal: AbortSignal,
): Promise<ExecOutcome> {
  const stream = await docker.startExec(execId, false, { signal: limit });
  try {
    const output = await collectOutput(stream, limit);
    return { ...output, exitCode: await exitCodeOf(docker, execId, signal) };
  } catch (error) {
    await killExec(docker, containerId, execId);
    throw error;
  } finally {
    stream.destroy();
  }
}

async function collectOutput(
  stream: Duplex,
  signal: AbortSignal,
): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const lengths = { stdout: 0, stderr: 0 };
  await readFrames(stream, signal, ({ stream: name, payload }) => {
    const target = name === 'stderr' ? 'stderr' : 'stdout';
    lengths[target] += payload.length;
    if (lengths[target] > outputCap) {
      throw new CriError('RESOURCE_EXHAUSTED', `the command wrote more than ${outputCap} bytes to ${target}`);
    }
    chunks[target].push(payload);
    return undefined;
  });
  return { stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr) };
}

/** @throws the signal's reason */
async function readFrames(
  stream: Duplex,
  signal: AbortSignal,
  take: (frame: Frame) => Promise<void> | undefined,
): Promise<void> {
  const read = createFrameReader();
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (const frame of read(chunk)) await take(frame);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  signal.throwIfAborted(); // a connection that is given up may also just end
}

async function exitCodeOf(docker: Docker, execId: string, signal: AbortSignal): Promise<number> {
  const { ExitCode } = await docker.inspectExec(execId, { signal });
  return ExitCode ?? 0;
}

/** Docker has no call for this; it tells the process' number on the host. That it is still the container's is checked. */
async function killExec(docker: Docker, containerId: string, execId: string): Promise<void> {
  try {
    const pid = await findExecPid(docker, execId);
    if (pid === undefined) return;
    if (fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId)) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile, or the container has; both is what was wanted.
  }
}

/** A program may have written already when Docker does not know its number yet. Undefined when it has ended. */
async function findExecPid(docker: Docker, execId: string): Promise<number | undefined> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { Running, Pid } = await docker.inspectExec(execId, { timeoutMs: 10_000 });
    if (!Running) return undefined;
    if (Pid > 1) return Pid;
    await sleep(20);
  }
  return undefined;
}

/** @returns the exit code. */
export async function execStreaming(
  own: Own,
  id: string,
  argv: readonly string[],
  call: StreamCall,
): Promise<number> {
  const { Id } = await inspectRunning(own, id, call.signal);
  const { docker } = own;
  const { stdin, stdout, stderr, tty } = call;
  const execId = await docker.createExec(
    Id,
    {
      argv,
      tty,
      stdin: stdin !== undefined,
      stdout: stdout !== undefined,
      stderr: stderr !== undefined && !tty,
    },
    { signal: call.signal },
  );
  const stream = await docker.startExec(execId, tty, { signal: call.signal });
  const resize = (width: number, height: number): Promise<void> =>
    docker.resizeExec(execId, width, height, { signal: call.signal });
  const refusal = holdRefusal(call);
  try {
    await joinStreams(stream, { ...call, ...compact({ stdout: refusal.stdout }) }, resize);
    const exitCode = await exitCodeOf(docker, execId, call.signal);
    await refusal.settle(exitCode);
    return exitCode;
  } catch (error) {
    await killExec(docker, Id, execId);
    throw error;
  }
}

/**
 * Docker writes why a program could not be started into the output of the program, as its only words. They are held back until
 * more follows or the end says what they were.
 */
function holdRefusal({ stdout }: StreamCall): {
  readonly stdout?: Writable;
  /** @throws CriError with Docker's words when the program was not started */
  settle(exitCode: number): Promise<void>;
} {
  if (stdout === undefined) return { settle: () => Promise.resolve() };
  let held: Buffer | undefined;
  let isFirst = true;
  const filter = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const mayBe = isFirst && chunk.subarray(0, refusalPrefix.length).equals(refusalPrefix);
      isFirst = false;
      const ready = held === undefined ? chunk : Buffer.concat([held, chunk]);
      held = mayBe ? ready : undefined;
      if (mayBe) done();
      else Promise.resolve(writeAll(stdout, ready)).then(() => done(), done);
    },
  });
  return {
    stdout: filter,
    async settle(exitCode) {
      if (held === undefined) return;
      if (exitCode === 126 || exitCode === 127) throw new CriError('UNKNOWN', held.toString('utf8').trim());
      await writeAll(stdout, held);
    },
  };
}

const refusalPrefix = Buffer.from('OCI runtime exec failed: ');

export async function attachStreaming(own: Own, id: string, call: StreamCall): Promise<void> {
  const { Id, Config } = await inspectRunning(own, id, call.signal);
  const { docker } = own;
  const { stdin, stdout, stderr } = call;
  const options = {
    stdin: stdin !== undefined && Config.OpenStdin,
    stdout: stdout !== undefined,
    stderr: stderr !== undefined && !Config.Tty,
  };
  const stream = await docker.attach(Id, options, { signal: call.signal });
  const resize = (width: number, height: number): Promise<void> =>
    docker.resizeContainer(Id, width, height, { signal: call.signal });
  await joinStreams(stream, { ...call, tty: Config.Tty }, resize);
}

type Resize = (width: number, height: number) => Promise<void>;

/** Until the process closes its output or the client goes. */
async function joinStreams(stream: Duplex, call: StreamCall, resize: Resize): Promise<void> {
  const ended = new AbortController();
  const input = call.stdin;
  const pump = (chunk: Buffer): void => {
    if (!stream.write(chunk)) {
      input?.pause();
      stream.once('drain', () => input?.resume());
    }
  };
  const endInput = (): void => void stream.end();
  input?.on('data', pump).once('end', endInput).once('error', endInput);
  stream.on('error', () => undefined); // reading it says so
  void followSizes(call.sizes, resize, ended.signal);
  try {
    if (call.tty) await copyRaw(stream, call.stdout, call.signal);
    else
      await readFrames(stream, call.signal, ({ stream: name, payload }) =>
        writeAll(name === 'stderr' ? call.stderr : call.stdout, payload),
      );
  } finally {
    ended.abort();
    input?.off('data', pump).off('end', endInput).off('error', endInput);
    stream.destroy();
  }
}

async function copyRaw(stream: Duplex, target: Writable | undefined, signal: AbortSignal): Promise<void> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) await writeAll(target, chunk);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  signal.throwIfAborted();
}

/** Waits while the client cannot take more. */
function writeAll(target: Writable | undefined, data: Buffer): Promise<void> | undefined {
  if (target === undefined || target.destroyed || target.write(data)) return undefined;
  return new Promise((resolve) => {
    const go = (): void => {
      target.off('drain', go).off('close', go).off('error', go);
      resolve();
    };
    target.once('drain', go).once('close', go).once('error', go);
  });
}

/** A size that comes before the process has its terminal is refused, and the next one comes with the next change. */
async function followSizes(sizes: StreamCall['sizes'], resize: Resize, ended: AbortSignal): Promise<void> {
  try {
    for await (const { width, height } of sizes) {
      if (ended.aborted) return;
      await resizeSoon(resize, width, height, ended);
    }
  } catch {
    // The client's terminal is not worth the command.
  }
}

/** The first size arrives together with the start: Docker may not know the process yet. */
async function resizeSoon(resize: Resize, width: number, height: number, ended: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < 20 && !ended.aborted; attempt += 1) {
    try {
      return await resize(width, height);
    } catch {
      await sleep(25);
    }
  }
}
