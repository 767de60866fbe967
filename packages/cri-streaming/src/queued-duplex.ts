import { Duplex } from 'node:stream';

/** The transport below a {@link QueuedDuplex}: one stream of many on one connection. */
export interface QueuedTransport {
  /** Calls `done` once the connection takes more. */
  send(chunk: Buffer, done: (error?: Error | null) => void): void;
  /** Our half is over. */
  sendEnd(done: (error?: Error | null) => void): void;
  /** The reader has taken this many received bytes, or they were thrown away. */
  consumed(bytes: number): void;
  /** The stream is over, both ways. */
  destroyed(): void;
}

/**
 * A stream whose bytes come from a shared connection. What the reader has not asked for yet waits here and is counted, so that
 * the connection can stop reading from its peer before memory grows.
 */
export class QueuedDuplex extends Duplex {
  readonly #transport: QueuedTransport;
  #queue: Buffer[] = [];
  #wanted = false;
  #remoteEnded = false;
  #broken: Error | undefined;

  constructor(transport: QueuedTransport) {
    super({ allowHalfOpen: true, readableHighWaterMark: 65_536, writableHighWaterMark: 65_536 });
    this.#transport = transport;
    // A connection that breaks is told to every stream; one without a listener must not end the process.
    this.on('error', () => undefined);
  }

  /** True if the peer has ended its half. */
  get remoteEnded(): boolean {
    return this.#remoteEnded;
  }

  /** Bytes from the peer. */
  receive(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (this.destroyed || this.#remoteEnded) this.#transport.consumed(chunk.length);
    else {
      this.#queue.push(chunk);
      this.#pushQueued();
    }
  }

  /** The peer sends nothing more; what it sent is still to be read. After that comes the end, or the error. */
  receiveEnd(error?: Error): void {
    if (this.#remoteEnded) return;
    this.#remoteEnded = true;
    this.#broken = error;
    this.#pushQueued();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pushQueued();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (chunk.length === 0) done();
    else this.#transport.send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#transport.sendEnd(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const dropped = this.#queue.reduce((sum, chunk) => sum + chunk.length, 0);
    this.#queue = [];
    if (dropped > 0) this.#transport.consumed(dropped);
    this.#transport.destroyed();
    done(error);
  }

  #pushQueued(): void {
    while (this.#wanted && this.#queue.length > 0) {
      const chunk = this.#queue.shift()!;
      this.#wanted = this.push(chunk);
      this.#transport.consumed(chunk.length);
    }
    if (!this.#remoteEnded || this.#queue.length > 0) return;
    if (this.#broken !== undefined) this.destroy(this.#broken);
    else if (this.#wanted) {
      this.#wanted = false;
      this.push(null);
    }
  }
}
