import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onAbort } from '@podwire/platform';
import { CriError } from '@podwire/cri';
import type { TerminalSize } from '../handlers.js';
import { carriesStatus, decodeResult } from '../status.js';
import { encodeSize } from '../terminal-size.js';
import type { DialOptions } from './dial.js';
import { type ClientSession, openSession } from './session.js';
import { dialFirst, type StreamTarget, type Transport } from './target.js';

/** The streams must be those that the URL was asked for. */
export interface AttachOptions extends DialOptions {
  /** Its end ends the program's input. */
  readonly stdin?: Readable;
  /** Not ended by this. */
  readonly stdout?: Writable;
  /** Not ended by this. None with a terminal. */
  readonly stderr?: Writable;
  readonly tty?: boolean;
  /** Sizes of the terminal, as they change. */
  readonly sizes?: AsyncIterable<TerminalSize>;
  /**
   * Ways to try, in this order. When absent: WebSocket first for a call that only listens, SPDY first for one with stdin or a terminal.
   * WebSocket before v5 cannot tell a program that its input is over, and containerd 1.6 loses the output of a terminal without
   * stdin there; once a server has taken the older protocol, it is too late to turn back.
   */
  readonly transports?: readonly Transport[];
}

export type ExecOptions = AttachOptions;

/**
 * Streams a command that Exec of the CRI was asked for.
 * @returns the exit code
 * @throws CriError UNKNOWN where the runtime could not run it, UNAVAILABLE where the connection breaks before the end, CANCELLED,
 * UpgradeRefusedError
 */
export async function openExec(target: StreamTarget, options: ExecOptions): Promise<number> {
  const order: readonly Transport[] =
    options.transports ?? (listensOnly(options) ? ['websocket', 'spdy'] : ['spdy', 'websocket']);
  const wanted = {
    stdin: options.stdin !== undefined,
    stdout: options.stdout !== undefined,
    stderr: options.stderr !== undefined && options.tty !== true,
    tty: options.tty === true,
  };
  const session = await dialFirst(target, order, (transport, url) =>
    openSession(transport, url, wanted, options),
  );
  const unsubscribe = onAbort(options.signal, () => session.destroy());
  try {
    return await stream(session, options);
  } catch (error) {
    throw describeFailure(error, options.signal);
  } finally {
    unsubscribe();
    session.close();
  }
}

function listensOnly({ stdin, tty }: ExecOptions): boolean {
  return stdin === undefined && tty !== true;
}

function describeFailure(error: unknown, signal: AbortSignal | undefined): CriError {
  if (signal?.aborted === true)
    return new CriError('CANCELLED', 'the call was given up', { cause: signal.reason });
  if (error instanceof CriError) return error;
  return new CriError('UNAVAILABLE', `the stream broke: ${(error as Error).message}`, { cause: error });
}

/** Streams what Attach of the CRI was asked for, until the program ends or the runtime lets go. */
export async function openAttach(target: StreamTarget, options: AttachOptions): Promise<void> {
  await openExec(target, options);
}

async function stream(session: ClientSession, options: ExecOptions): Promise<number> {
  const input = new AbortController();
  if (options.stdin !== undefined && session.stdin !== undefined) {
    pump(options.stdin, session.stdin, input.signal);
  }
  if (options.sizes !== undefined && session.resize !== undefined) {
    void sendSizes(options.sizes, session.resize);
  }
  try {
    const [message] = await Promise.all([
      readAll(session.error),
      copy(session.stdout, options.stdout),
      copy(session.stderr, options.stderr),
    ]);
    return exitCodeOf(message, session.protocol);
  } finally {
    input.abort();
  }
}

/** The caller keeps its stdin: a terminal is used again after the program. */
function pump(source: Readable, target: Writable, over: AbortSignal): void {
  const onData = (chunk: Buffer | string): void => {
    if (!target.write(chunk)) source.pause();
  };
  const onDrain = (): void => void source.resume();
  const onEnd = (): void => void target.end();
  const stop = (): void => {
    source.off('data', onData).off('end', onEnd).off('error', onEnd);
    target.off('drain', onDrain);
    source.pause();
  };
  source.on('end', onEnd).on('error', onEnd).on('data', onData);
  target.on('drain', onDrain).once('close', stop);
  onAbort(over, stop);
  if (source.readableEnded) onEnd();
}

async function copy(source: Readable | undefined, target: Writable | undefined): Promise<void> {
  if (source === undefined || target === undefined) return;
  for await (const chunk of chunksOf(source)) {
    if (!target.write(chunk) && !target.destroyed) await drained(target);
    if (target.destroyed) throw new CriError('CANCELLED', 'the output has nowhere to go');
  }
}

/**
 * Leaves the stream as it is at its end. Destroying it would reset it, a frame that the server may not read before it closes: that
 * makes the close a reset of the whole socket, and what is under way to us, such as the exit code, is lost.
 */
function chunksOf(source: Readable): AsyncIterable<Buffer> {
  return source.iterator({ destroyOnReturn: false });
}

async function drained(target: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(target, 'drain', { signal }), once(target, 'close', { signal })]);
  } finally {
    over.abort();
  }
}

async function sendSizes(sizes: AsyncIterable<TerminalSize>, resize: Writable): Promise<void> {
  const encode = async function* (): AsyncIterable<Buffer> {
    for await (const size of sizes) yield encodeSize(size);
  };
  // Sizes are for looks; the program's end is told elsewhere.
  await pipeline(encode, resize, { end: false }).catch(() => undefined);
}

const maxStatus = 65_536;

async function readAll(source: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunksOf(source)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxStatus) throw new CriError('INTERNAL', 'the error stream is too long');
  }
  return Buffer.concat(chunks);
}

function exitCodeOf(message: Buffer, protocol: string): number {
  if (message.length === 0 && carriesStatus(protocol)) {
    throw new CriError('UNAVAILABLE', 'the connection ended before the program did');
  }
  const result = decodeResult(message, protocol);
  if ('exitCode' in result) return result.exitCode;
  throw new CriError('UNKNOWN', result.message);
}
