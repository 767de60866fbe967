/** The bytes of a socket, read on demand. */
import type { Socket } from 'node:net';

export interface Bytes {
  /** Up to the next newline, which is not part of it. @throws when there are more than `most` bytes before it, or none at all */
  readLine(most: number): Promise<Buffer>;
  /** The next bytes, `most` of them. @returns undefined at the end */
  readSome(most: number): Promise<Buffer | undefined>;
  /** How many bytes have been taken. */
  count(): number;
}

/** The other side has ended where something had to follow. */
export class UnexpectedEnd extends Error {
  constructor() {
    super('the answer breaks off');
    this.name = 'UnexpectedEnd';
  }
}

const newline = 0x0a;

/**
 * A server that answers before it has read the question ends with a reset: what had come before that counts, so what has come
 * is handed out first, and the error after it. A stream's own iterator would drop it.
 */
export function readBytes(socket: Socket): Bytes {
  const next = queueOf(socket);
  let rest: Buffer = Buffer.alloc(0);
  let taken = 0;
  const take = (length: number): Buffer => {
    const part = rest.subarray(0, length);
    rest = rest.subarray(length);
    taken += part.length;
    return part;
  };
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const chunk = await next();
      if (chunk === undefined) return false;
      rest = chunk;
    }
    return true;
  };
  return {
    async readLine(most) {
      const parts: Buffer[] = [];
      for (let length = 0; ;) {
        if (!(await fill())) throw new UnexpectedEnd();
        const at = rest.indexOf(newline);
        const part = take(at < 0 ? rest.length : at);
        parts.push(part);
        length += part.length;
        if (length > most) throw new Error(`a line of the answer is longer than ${most} bytes`);
        if (at < 0) continue;
        take(1);
        return Buffer.concat(parts);
      }
    },
    readSome: async (most) => ((await fill()) ? take(most) : undefined),
    count: () => taken,
  };
}

/** @returns a function that gives the next chunk, undefined at the end; it throws what the socket has failed with */
function queueOf(socket: Socket): () => Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let end: { readonly error?: Error } | undefined;
  let wake: () => void = () => undefined;
  const finish = (how: { readonly error?: Error }): void => {
    end ??= how;
    wake();
  };
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    // A pod that sends without end is not stored: what follows is read when this has been taken.
    socket.pause();
    wake();
  });
  socket.once('end', () => finish({}));
  socket.on('error', (error) => finish({ error }));
  socket.once('close', () => finish({}));
  return async () => {
    while (chunks.length === 0 && end === undefined) {
      socket.resume();
      await new Promise<void>((resolve) => (wake = resolve));
    }
    const chunk = chunks.shift();
    if (chunk === undefined && end?.error !== undefined) throw end.error;
    return chunk;
  };
}
