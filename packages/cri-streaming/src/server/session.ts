import { finished } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../handlers.js';
import { type CallResult, encodeResult } from '../status.js';
import { createSizeDecoder, createSizeQueue } from '../terminal-size.js';

/** An exec or attach with its client, whatever they speak. */
export interface CommandSession {
  readonly protocol: string;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  readonly error: Writable;
  readonly resize?: Readable;
  readonly closed: Promise<void>;
  close(): void;
  destroy(): void;
}

export type WantedStreams = {
  readonly [name in 'stdin' | 'stdout' | 'stderr' | 'tty']: boolean;
};

/** Sends the result after all output, and closes. Returns early when the client is gone. */
export async function finishSession(session: CommandSession, result: CallResult): Promise<void> {
  await Promise.all([flush(session.stdout), flush(session.stderr)]);
  const message = encodeResult(result, session.protocol);
  if (message.length > 0 && session.error.writable) session.error.write(message);
  await flush(session.error);
  session.close();
}

/** The sizes from the resize stream. What is no size ends them and nothing else. */
export function readSizes(resize: Readable | undefined): AsyncIterable<TerminalSize> {
  const queue = createSizeQueue();
  if (resize === undefined) {
    queue.end();
    return queue;
  }
  const decode = createSizeDecoder();
  resize.on('data', (chunk: Buffer) => {
    try {
      for (const size of decode(chunk)) queue.push(size);
    } catch {
      queue.end();
      resize.removeAllListeners('data').resume();
    }
  });
  resize.once('close', () => queue.end());
  resize.once('end', () => queue.end());
  return queue;
}

async function flush(stream: Writable | undefined): Promise<void> {
  if (stream === undefined) return;
  if (!stream.writableEnded) stream.end();
  // A client that is gone takes no output; its going is told by the connection.
  await finished(stream, { readable: false }).catch(() => undefined);
}
