import type { Socket } from 'node:net';
import { encodeDataHeader, encodeFrame, type SpdyFrame } from './frames.js';
import { defaultWindow, type SendWindow, widen } from './window.js';

/** Data is cut into frames of this size, so that streams take turns. The peers of this protocol copy in the same pieces. */
const dataFrameLength = 32_768;

interface Pending {
  readonly streamId: number;
  readonly window: SendWindow;
  rest: Buffer;
  readonly done: (error?: Error | null) => void;
}

/**
 * The writing half of a connection. Data waits here, one chunk a stream, while the socket is full or a window shut, and so the
 * back-pressure reaches the writer of the stream. Control frames do not wait; a peer that makes us answer and does not read
 * (pings, streams it opens) is cut off at `backlogLimit` bytes.
 */
export class SpdySender {
  readonly #socket: Socket;
  readonly #backlogLimit: number;
  readonly #overflow: (error: Error) => void;
  /** The connection's own window. */
  readonly window: SendWindow = { size: defaultWindow };
  #waiting: Pending[] = [];
  #enforced = false;
  #pumping = false;

  constructor(socket: Socket, backlogLimit: number, overflow: (error: Error) => void) {
    this.#socket = socket;
    this.#backlogLimit = backlogLimit;
    this.#overflow = overflow;
    socket.on('drain', () => this.pump());
  }

  control(frame: Exclude<SpdyFrame, { readonly type: 'data' }>): void {
    if (!this.#socket.writable) return;
    this.#socket.write(encodeFrame(frame));
    if (this.#socket.writableLength > this.#backlogLimit)
      this.#overflow(new Error('the peer does not read our answers'));
  }

  /** One chunk of a stream; the next may follow after `done`. */
  data(streamId: number, window: SendWindow, chunk: Buffer, done: Pending['done']): void {
    this.#waiting.push({ streamId, window, rest: chunk, done });
    this.pump();
  }

  /** An empty frame that ends our half. */
  end(streamId: number): void {
    if (this.#socket.writable) this.#socket.write(encodeDataHeader(streamId, 0, true));
  }

  /** Gives up what of a stream is not sent yet. */
  forget(streamId: number, error: Error): void {
    const lost = this.#waiting.filter((pending) => pending.streamId === streamId);
    this.#waiting = this.#waiting.filter((pending) => pending.streamId !== streamId);
    for (const { done } of lost) done(error);
  }

  /** From now on the windows count. */
  enforceWindows(): void {
    this.#enforced = true;
  }

  /** Tries again: a window is wider, or the socket has room. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#waiting.length > 0 && this.#sendRound());
    } finally {
      this.#pumping = false;
    }
    // A round that ended because the socket is full may leave chunks behind that are sent whole.
    this.#finishSent();
  }

  /** @returns whether anything could be sent */
  #sendRound(): boolean {
    let progress = false;
    for (const pending of this.#waiting) {
      if (this.#socket.writableNeedDrain || !this.#socket.writable) return false;
      progress = this.#sendOne(pending) || progress;
    }
    this.#finishSent();
    return progress;
  }

  #sendOne(pending: Pending): boolean {
    const allowed = this.#enforced ? Math.min(pending.window.size, this.window.size) : dataFrameLength;
    const length = Math.min(pending.rest.length, dataFrameLength, allowed);
    if (length <= 0) return false;
    this.#socket.cork();
    this.#socket.write(encodeDataHeader(pending.streamId, length, false));
    this.#socket.write(pending.rest.subarray(0, length));
    this.#socket.uncork();
    pending.rest = pending.rest.subarray(length);
    // Both count from the start, whether they hold or not: what is sent before the peer shows its hand is spent.
    widen(pending.window, -length);
    widen(this.window, -length);
    return true;
  }

  #finishSent(): void {
    const complete = this.#waiting.filter(({ rest }) => rest.length === 0);
    if (complete.length === 0) return;
    this.#waiting = this.#waiting.filter(({ rest }) => rest.length > 0);
    for (const { done } of complete) done();
  }
}
