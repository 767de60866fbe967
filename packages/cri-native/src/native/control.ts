import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { errnoName } from '@podwire/linux';
import { createFrameReader, encodeFrame, type Frame } from './frames.js';

/** A connection to a pause process or shim. It lasts as long as that lives, so its end is the news of the other's end. */
export interface ControlConnection {
  readonly socket: net.Socket;
  /** Resolves when the connection has ended, from either side. */
  readonly ended: Promise<void>;
  send(type: string, bytes?: Uint8Array): void;
  /** Sends and waits for the acknowledgement. @throws Error with the errno's name that it carries */
  call(type: string, bytes?: Uint8Array): Promise<void>;
  close(): void;
}

/** The longest path that a socket's address holds (unix(7)), with its NUL. */
const addressBytes = 107;

/**
 * Connects to the socket `control` of the directory.
 * @throws the errors of connect(2): ENOENT, ECONNREFUSED when no process listens (yet)
 */
export async function connectControl(
  directory: string,
  take: (frame: Frame) => void = () => undefined,
): Promise<ControlConnection> {
  const file = path.join(directory, 'control');
  if (Buffer.byteLength(file) <= addressBytes) return connect(file, take);
  const fd = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    return await connect(`/proc/self/fd/${fd}/control`, take);
  } finally {
    fs.closeSync(fd);
  }
}

async function connect(file: string, take: (frame: Frame) => void): Promise<ControlConnection> {
  const socket = net.connect({ path: file });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return follow(socket, take);
}

function follow(socket: net.Socket, take: (frame: Frame) => void): ControlConnection {
  const waiting: ((errno: number) => void)[] = [];
  const gone = -1;
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      for (const answer of waiting.splice(0)) answer(gone);
      resolve();
    });
  });
  socket.on('error', () => undefined); // `close` follows, which is all that matters
  socket.on(
    'data',
    createFrameReader((frame) => {
      if (frame.type === 'a') waiting.shift()?.(frame.bytes[0] ?? 0);
      else take(frame);
    }),
  );
  const send = (type: string, bytes?: Uint8Array): void => void socket.write(encodeFrame(type, bytes));
  return {
    socket,
    ended,
    send,
    async call(type, bytes) {
      if (socket.destroyed) throw new Error('the connection has ended');
      const errno = await new Promise<number>((resolve) => {
        waiting.push(resolve);
        send(type, bytes);
      });
      if (errno === gone) throw new Error('the connection ended before the answer');
      if (errno !== 0) throw Object.assign(new Error(errnoName(errno)), { code: errnoName(errno) });
    },
    close: () => socket.destroy(),
  };
}
