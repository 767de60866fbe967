import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createAuthorityRepair } from './frames.js';

/**
 * A client's connection as Node's HTTP/2 can read it. grpc-go, as it is in kubelet and crictl up to 1.26 at least, names the path of the
 * unix socket as the authority of its requests; nghttp2 finds the slashes invalid, resets every such request with PROTOCOL_ERROR
 * and cannot be told otherwise.
 */
export function repairConnection(socket: Socket): Duplex {
  return new RepairedConnection(socket);
}

class RepairedConnection extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    const repair = createAuthorityRepair();
    socket.on('data', (chunk: Buffer) => {
      for (const piece of repair(chunk)) if (!this.push(piece)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
