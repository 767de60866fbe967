/** One question to one member. */
import type { Client, Metadata } from '@grpc/grpc-js';
import { EtcdFailure } from './failure.js';
import type { Method } from './methods.js';

export interface Asking {
  readonly metadata: Metadata;
  readonly milliseconds: number;
  /** Any of them ends it. */
  readonly ends: readonly AbortSignal[];
}

/** @throws what grpc-js says; EtcdFailure `unready` when the connection was given up a moment ago */
export async function ask<Q, A>(
  client: Client,
  { path, encode, decode }: Method<Q, A>,
  request: Q,
  { metadata, milliseconds, ends }: Asking,
): Promise<A> {
  let cancel = (): void => undefined;
  try {
    return await new Promise<A>((resolve, reject) => {
      // gRPC's deadlines are times of day.
      const deadline = Date.now() + Math.max(1, milliseconds);
      const call = begin(() =>
        client.makeUnaryRequest(path, encode, decode, request, metadata, { deadline }, (error, answer) => {
          if (error !== null) reject(error);
          else if (answer === undefined) reject(new Error('an answer without a message'));
          else resolve(answer);
        }),
      );
      cancel = () => call.cancel();
      for (const signal of ends) {
        if (signal.aborted) cancel();
        signal.addEventListener('abort', cancel, { once: true });
      }
    });
  } finally {
    for (const signal of ends) signal.removeEventListener('abort', cancel);
  }
}

/** A client that was closed throws where calls fail otherwise. */
function begin<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new EtcdFailure('unready', 'the connection was given up', { cause });
  }
}
