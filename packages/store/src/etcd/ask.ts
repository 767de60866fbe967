/** One unary call to one member. */
import type { Client, Metadata } from '@grpc/grpc-js';
import { onAbort } from '@podwire/platform';
import { EtcdFailure } from './failure.js';
import type { Method } from './methods.js';

export interface Asking {
  readonly metadata: Metadata;
  readonly milliseconds: number;
  /** Any of them ends it. */
  readonly ends: readonly AbortSignal[];
}

/** @throws errors of grpc-js; EtcdFailure `unready` if the connection was just closed */
export async function ask<Q, A>(
  client: Client,
  { path, encode, decode }: Method<Q, A>,
  request: Q,
  { metadata, milliseconds, ends }: Asking,
): Promise<A> {
  let unsubscribe: (() => void)[] = [];
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
      unsubscribe = ends.map((signal) => onAbort(signal, () => call.cancel()));
    });
  } finally {
    for (const each of unsubscribe) each();
  }
}

/** A client that was closed throws where calls fail otherwise. */
function begin<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new EtcdFailure('unready', 'the connection was closed', { cause });
  }
}
