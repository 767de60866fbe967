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
import { connectSocket, converse } from './socket.js';
import { nameError, readEnvironment, readInput, tryWrite, writeAll } from './streams.js';

declare const PODWIRE_VERSION: string;
declare const DEFAULT_SOCKET: string;

/** One byte more than the agent accepts, so that it sees (and says) that the limit is exceeded. */
const INPUT_LIMIT = 1024 * 1024 + 1;
const CONNECT_MILLISECONDS = 1000;
const PATH_LIMIT = 107;

/** CNI specification 1.1.0, "Error" (well-known codes) and "STATUS" (50). */
const CODE = { io: 5, config: 7, tryLater: 11, notAvailable: 50 } as const;

const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];

interface Request {
  readonly bytes: Buffer;
  readonly config: ConfigStrings;
  /** The socket as it is written in the configuration. */
  readonly socket: Buffer;
}

// ---- the request

function buildRequest(input: Buffer): Request {
  const pairs = readEnvironment();
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

interface Answer {
  /** The status byte, if one came. */
  readonly status: number | undefined;
  /** The connection ended otherwise than by both sides being done. */
  readonly broke: boolean;
}

/** Copies the answer to standard output until the connection ends. */
async function carryAnswer(socket: net.Socket, request: Buffer): Promise<Answer> {
  let status: number | undefined;
  const take = (chunk: Buffer): void => {
    const body = status === undefined ? chunk.subarray(1) : chunk;
    status ??= chunk[0];
    if (status === 0x30 || status === 0x31) writeAnswer(body, socket);
    else socket.destroy();
  };
  const { sent, broke } = await converse(socket, { request, endsRequest: true, take });
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

async function carryCall(socket: net.Socket, request: Request): Promise<void> {
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
    socket = await connectSocket(path, CONNECT_MILLISECONDS);
  } catch (error) {
    return failUnreachable(request, 'the Podwire agent cannot be reached', nameError(error));
  }
  await carryCall(socket, request);
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
