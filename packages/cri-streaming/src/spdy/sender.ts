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

export interface SpdySender {
  control(frame: Exclude<SpdyFrame, { readonly type: 'data' }>): void;
  /** One chunk of a stream; the next may follow after `done`. */
  data(streamId: number, window: SendWindow, chunk: Buffer, done: (error?: Error | null) => void): void;
  /** An empty frame that ends our half. */
  end(streamId: number): void;
  /** Gives up what of a stream is not sent yet. */
  forget(streamId: number, error: Error): void;
  /** The connection's own window. */
  readonly window: SendWindow;
  /** From now on the windows count. */
  enforceWindows(): void;
  /** Tries again: a window is wider, or the socket has room. */
  pump(): void;
}

/**
 * The writing half of a connection. Data waits here, one chunk a stream, while the socket is full or a window shut, and so the
 * back-pressure reaches the writer of the stream. Control frames do not wait; a peer that makes us answer and does not read
 * (pings, streams it opens) is cut off at `backlogLimit` bytes.
 */
export function createSpdySender(
  socket: Socket,
  backlogLimit: number,
  overflow: (error: Error) => void,
): SpdySender {
  const window: SendWindow = { size: defaultWindow };
  let waiting: Pending[] = [];
  let enforced = false;
  let pumping = false;

  const sendOne = (pending: Pending): boolean => {
    const allowed = enforced ? Math.min(pending.window.size, window.size) : dataFrameLength;
    const length = Math.min(pending.rest.length, dataFrameLength, allowed);
    if (length <= 0) return false;
    socket.cork();
    socket.write(encodeDataHeader(pending.streamId, length, false));
    socket.write(pending.rest.subarray(0, length));
    socket.uncork();
    pending.rest = pending.rest.subarray(length);
    // Both count from the start, whether they hold or not: what is sent before the peer shows its hand is spent.
    widen(pending.window, -length);
    widen(window, -length);
    return true;
  };
  /** @returns whether anything could be sent */
  const round = (): boolean => {
    let progress = false;
    for (const pending of waiting) {
      if (socket.writableNeedDrain || !socket.writable) return false;
      progress = sendOne(pending) || progress;
    }
    const complete = waiting.filter(({ rest }) => rest.length === 0);
    waiting = waiting.filter(({ rest }) => rest.length > 0);
    for (const { done } of complete) done();
    return progress;
  };
  const pump = (): void => {
    if (pumping) return;
    pumping = true;
    try {
      while (waiting.length > 0 && round());
    } finally {
      pumping = false;
    }
    finishSent();
  };
  /** A round that ended because the socket is full may leave chunks behind that are sent whole. */
  const finishSent = (): void => {
    const complete = waiting.filter(({ rest }) => rest.length === 0);
    if (complete.length === 0) return;
    waiting = waiting.filter(({ rest }) => rest.length > 0);
    for (const { done } of complete) done();
  };
  socket.on('drain', pump);

  return {
    window,
    pump,
    enforceWindows: () => {
      enforced = true;
    },
    control: (frame) => {
      if (!socket.writable) return;
      socket.write(encodeFrame(frame));
      if (socket.writableLength > backlogLimit) overflow(new Error('the peer does not read our answers'));
    },
    data: (streamId, streamWindow, chunk, done) => {
      waiting.push({ streamId, window: streamWindow, rest: chunk, done });
      pump();
    },
    end: (streamId) => {
      if (socket.writable) socket.write(encodeDataHeader(streamId, 0, true));
    },
    forget: (streamId, error) => {
      const lost = waiting.filter((pending) => pending.streamId === streamId);
      waiting = waiting.filter((pending) => pending.streamId !== streamId);
      for (const { done } of lost) done(error);
    },
  };
}
