/**
 * podwire-cni in JavaScript: the same program as podwire-cni.c, for machines without a C compiler. It starts sixty times
 * slower (Node's own start), so the installer chooses it only where it must. docs/decisions/0002-plugin-protocol.md
 * describes the bytes; one suite tests both programs.
 *
 * The bundle has no import and no require: it is installed as `podwire-cni` without an extension, and Node takes
 * such a file for a CommonJS or an ES module depending on the folder it lies in.
 */
import type net from 'node:net';
import { type ConfigStrings, decodeString, scanConfig } from './scan.js';
import { readInput, tryWrite, writeAll } from './streams.js';

declare const PODWIRE_VERSION: string;
declare const DEFAULT_SOCKET: string;

const fs = process.getBuiltinModule('node:fs');
const { Socket } = process.getBuiltinModule('node:net');

/** One byte more than the agent accepts, so that it sees (and says) that the limit is exceeded. */
const INPUT_LIMIT = 1024 * 1024 + 1;
const CONNECT_MILLISECONDS = 1000;
const RETRY_MILLISECONDS = 10;
const PATH_LIMIT = 107;

/** CNI specification 1.1.0, "Error" (well-known codes) and "STATUS" (50). */
const CODE = { io: 5, config: 7, tryLater: 11, notAvailable: 50 } as const;

const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];
const NAMED_ERRORS = new Set(
  (
    'ENOENT ECONNREFUSED ECONNRESET EPIPE EACCES EPERM ENOTDIR ELOOP EPROTOTYPE ENOTSOCK EIO ENOMEM ' +
    'EISDIR EBADF EMFILE ENFILE'
  ).split(' '),
);

interface Request {
  readonly bytes: Buffer;
  readonly config: ConfigStrings;
  /** The socket as it is written in the configuration. */
  readonly socket: Buffer;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const nameError = (error: unknown): string =>
  NAMED_ERRORS.has(codeOf(error)) ? codeOf(error) : 'an unexpected error';

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

// ---- the request

/** The environment as the kernel has it: `process.env` would replace bytes that are not UTF-8. */
function readEnvironment(): Buffer[] {
  const block = fs.readFileSync('/proc/self/environ');
  const pairs: Buffer[] = [];
  for (let at = 0, end; at < block.length; at = end + 1) {
    end = block.indexOf(0, at);
    if (end < 0) end = block.length;
    pairs.push(block.subarray(at, end));
  }
  return pairs;
}

const isCarried = (pair: Buffer): boolean =>
  /^(CNI_[^=]*|TRACEPARENT|TRACESTATE|BAGGAGE)=/.test(pair.toString('latin1'));

function buildRequest(input: Buffer): Request {
  const pairs = readEnvironment().filter(isCarried);
  const config = scanConfig(input);
  const zero = Buffer.alloc(1);
  return {
    bytes: Buffer.concat([Buffer.from('PW1\0'), ...pairs.flatMap((pair) => [pair, zero]), zero, input]),
    config,
    socket: config.socket?.length ? config.socket : Buffer.from(DEFAULT_SOCKET),
  };
}

// ---- errors

/** A CNI error object. `subject` is JSON text already. Without a version the specification means 0.1.0. */
function fail(
  version: Buffer | undefined,
  errorCode: number,
  msg: string,
  subject: Buffer,
  reason: string,
): void {
  const parts = ['{"cniVersion":"', version ?? '0.1.0', `","code":${errorCode},"msg":"${msg}","details":"`];
  const text = [...parts, subject, `: ${reason}"}\n`].map((part) =>
    typeof part === 'string' ? Buffer.from(part) : part,
  );
  tryWrite(1, Buffer.concat(text));
  process.exitCode = 1;
}

/** STATUS has a code of its own for a plugin that cannot serve ADD now; for every other call it is "try again later". */
function failUnreachable(request: Request, message: string, reason: string): void {
  const errorCode = process.env['CNI_COMMAND'] === 'STATUS' ? CODE.notAvailable : CODE.tryLater;
  fail(request.config.version, errorCode, message, request.socket, reason);
}

// ---- the conversation

/** Half-open: the request is ended while the answer is still to come. */
function connectOnce(path: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = new Socket({ allowHalfOpen: true });
    socket.once('error', reject);
    socket.connect({ path }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/**
 * Connects, and retries for a second while no agent listens: it may be restarting. EAGAIN means that it listens and
 * its queue is full; that is waiting for the answer, and only the caller knows how long to.
 */
async function connectAgent(path: string): Promise<net.Socket> {
  const deadline = performance.now() + CONNECT_MILLISECONDS;
  for (;;) {
    try {
      return await connectOnce(path);
    } catch (error) {
      const absent = codeOf(error) === 'ENOENT' || codeOf(error) === 'ECONNREFUSED';
      if (!absent && codeOf(error) !== 'EAGAIN') throw error;
      if (absent && performance.now() > deadline) throw error;
      await sleep(RETRY_MILLISECONDS);
    }
  }
}

/**
 * Writes beside the stream, to its descriptor: a stream destroys itself at a write error, and with it an answer that is
 * there to be read. Resolves to false at such an error.
 */
async function sendRequest(socket: net.Socket, bytes: Buffer): Promise<boolean> {
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(fd, bytes, at);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return false;
      await sleep(1);
      if (socket.destroyed) return false;
    }
  }
  socket.end();
  return true;
}

interface Answer {
  /** The status byte, if one came. */
  readonly status: number | undefined;
  /** The connection ended otherwise than by both sides being done. */
  readonly broke: boolean;
}

/** Copies the answer to standard output until the connection ends. */
async function carryAnswer(socket: net.Socket, bytes: Buffer): Promise<Answer> {
  let status: number | undefined;
  let broke = false;
  socket.on('data', (chunk) => {
    const body = status === undefined ? chunk.subarray(1) : chunk;
    status ??= chunk[0];
    if (status === 0x30 || status === 0x31) writeAnswer(body, socket);
    else socket.destroy();
  });
  socket.on('error', () => (broke = true));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // The agent may answer and close before it has read everything (a request that is too large): its answer counts.
  const sent = await sendRequest(socket, bytes);
  socket.on('end', () => socket.destroy());
  if (socket.readableEnded) socket.destroy();
  await closed;
  return { status, broke: broke || !sent };
}

function writeAnswer(body: Buffer, socket: net.Socket): void {
  try {
    writeAll(1, body);
  } catch {
    tryWrite(2, Buffer.from('podwire-cni: standard output: cannot be written\n'));
    process.exitCode = 1;
    socket.destroy();
  }
}

async function converse(socket: net.Socket, request: Request): Promise<void> {
  const { status, broke } = await carryAnswer(socket, request.bytes);
  if (status === undefined) {
    const reason = 'the call may have been carried out or not';
    return failUnreachable(request, 'the Podwire agent closed the connection without an answer', reason);
  }
  if (status !== 0x30 && status !== 0x31)
    return failUnreachable(request, 'the answer is not that of a Podwire agent', 'unknown status byte');
  if (broke && status === 0x30)
    tryWrite(2, Buffer.from('podwire-cni: the connection broke within the answer\n'));
  if (broke || status === 0x31) process.exitCode = 1;
}

async function carry(): Promise<void> {
  let input: Buffer;
  try {
    input = readInput(INPUT_LIMIT);
  } catch (error) {
    const subject = Buffer.from('standard input');
    return fail(undefined, CODE.io, 'the request cannot be read', subject, nameError(error));
  }
  const request = buildRequest(input);
  const path = decodeString(request.socket);
  if (Buffer.byteLength(path) > PATH_LIMIT || path.includes('\0')) {
    const message = 'the network configuration has a `socket` that cannot be used';
    const reason = 'a path of at most 107 bytes is needed';
    return fail(request.config.version, CODE.config, message, request.socket, reason);
  }
  let socket: net.Socket;
  try {
    socket = await connectAgent(path);
  } catch (error) {
    return failUnreachable(request, 'the Podwire agent cannot be reached', nameError(error));
  }
  await converse(socket, request);
}

function printAbout(): void {
  const versions = `CNI protocol versions supported: ${VERSIONS.join(', ')}`;
  tryWrite(2, Buffer.from(`Podwire CNI plugin ${PODWIRE_VERSION}\n${versions}\n`));
}

const command = process.env['CNI_COMMAND'];
if (!command) printAbout();
else if (command === 'VERSION')
  tryWrite(1, Buffer.from(`{"cniVersion":"1.1.0","supportedVersions":${JSON.stringify(VERSIONS)}}\n`));
else void carry();
