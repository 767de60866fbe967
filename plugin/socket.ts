/** One request and its answer on a unix socket. */
import type net from 'node:net';
import { codeOf } from './streams.js';

const fs = process.getBuiltinModule('node:fs');
const { Socket } = process.getBuiltinModule('node:net');

const RETRY_MILLISECONDS = 10;

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Half-open: a request may be ended while its answer is still to come. */
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
 * Connects, and retries for so many milliseconds while no agent listens: it may be restarting. EAGAIN means that one
 * listens and its queue is full; that is waiting for the answer, and only the caller knows how long to.
 */
export async function connectSocket(path: string, milliseconds: number): Promise<net.Socket> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      return await connectOnce(path);
    } catch (error) {
      const absent = codeOf(error) === 'ENOENT' || codeOf(error) === 'ECONNREFUSED';
      if (!absent && codeOf(error) !== 'EAGAIN') throw error;
      if (absent && performance.now() >= deadline) throw error;
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
  return true;
}

export interface Conversation {
  readonly request: Buffer;
  /** True when the other side is to see the end of the request. */
  readonly endsRequest: boolean;
  /** Takes a part of the answer, and destroys the socket when it needs no more. */
  readonly take: (chunk: Buffer) => void;
}

export interface Outcome {
  /** The whole request was written. */
  readonly sent: boolean;
  /** The connection ended otherwise than by both sides being done. */
  readonly broke: boolean;
}

/** Resolves when the connection has ended. */
export async function converse(socket: net.Socket, conversation: Conversation): Promise<Outcome> {
  const { request, endsRequest, take } = conversation;
  let broke = false;
  socket.on('data', take);
  socket.on('error', () => (broke = true));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // The other side may answer and close before it has read everything (a request that is too large): its answer counts.
  const sent = await sendRequest(socket, request);
  if (sent && endsRequest) socket.end();
  socket.on('end', () => socket.destroy());
  if (socket.readableEnded) socket.destroy();
  await closed;
  return { sent, broke };
}
