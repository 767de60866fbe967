/** One connection of a plugin: receives the whole request, gives one answer, ends. */
import type { Socket } from 'node:net';
import { PodwireError } from '@podwire/errors';
import type { ByteBudget } from '@podwire/local-api';
import { decodeRequest, encodeAnswer, maxRequestBytes, type PluginRequest } from './framing.js';

/** Takes the request, or says why there is none. */
export type Received = { readonly request: PluginRequest } | { readonly error: PodwireError };

/** Gives the answer to the plugin and ends the connection. @throws PodwireError CALLER_GONE when the plugin does not take it */
export type GiveAnswer = (ok: boolean, body: string) => Promise<void>;

export interface ConnectionOptions {
  /** Milliseconds for the request to arrive, and again for the answer to be taken. */
  readonly deadline: number;
  /** Limits received bytes, which are kept until the connection has closed, since the request is a view into it. */
  readonly budget: ByteBudget;
  /** Set when the caller is to be refused, whatever it sends. */
  readonly refusal?: PodwireError;
}

/**
 * Receives until the plugin closes its side. What is refused is still read to the end, and thrown away: a plugin that is
 * in the middle of writing would otherwise see a broken pipe instead of the reason.
 */
export function receive(socket: Socket, { deadline, budget, refusal }: ConnectionOptions): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let kept = 0;
    let refused = refusal;
    const keep = (chunk: Buffer): void => {
      chunks.push(chunk);
      kept += chunk.length;
    };
    const drop = (): void => {
      chunks.length = 0;
      budget.giveBack(kept);
      kept = 0;
    };

    const finish = (): void => {
      clearTimeout(timer);
      resolve(refused === undefined ? decode(chunks) : { error: refused });
    };
    const timer = setTimeout(() => {
      refused ??= new PodwireError('DEADLINE_EXCEEDED', `the request did not arrive within ${deadline} ms`);
      finish();
    }, deadline);

    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxRequestBytes) refused ??= tooLarge();
      if (refused === undefined && !budget.take(chunk.length)) refused = tooMuchAtOnce();
      if (refused === undefined) keep(chunk);
      else drop();
    });
    socket.once('end', finish);
    socket.once('close', () => {
      clearTimeout(timer);
      drop();
      reject(new Error('the plugin is gone'));
    });
  });
}

function decode(chunks: readonly Buffer[]): Received {
  try {
    return { request: decodeRequest(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)) };
  } catch (error) {
    if (error instanceof PodwireError) return { error };
    throw error;
  }
}

function tooLarge(): PodwireError {
  return new PodwireError('REQUEST_TOO_LARGE', `the request is larger than ${maxRequestBytes} bytes`);
}

function tooMuchAtOnce(): PodwireError {
  return new PodwireError('AGENT_NOT_READY', 'too many large requests are being received at once');
}

/** Sends the answer and closes. The write fails at once when the plugin has died: unix sockets know (EPIPE). */
export function giveAnswer(socket: Socket, deadline: number): GiveAnswer {
  return (ok, body) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => settle(new Error(`it did not take the answer within ${deadline} ms`)),
        deadline,
      );
      const settle = (cause?: Error | null): void => {
        clearTimeout(timer);
        // Not `end`: shutting down costs another turn of the event loop, and what was written arrives all the same.
        // Not within the callback of the write: Node would make an error with a stack for what else there was to write.
        process.nextTick(() => socket.destroy());
        if (cause) reject(new PodwireError('CALLER_GONE', 'the plugin has no use for its answer', { cause }));
        else resolve();
      };
      socket.write(encodeAnswer(ok, body), settle);
    });
}
