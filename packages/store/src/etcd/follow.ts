/** One watch stream. */
import { onAbort } from '@podwire/platform';
import { toRange } from './codec.js';
import { EtcdFailure, toFailure } from './failure.js';
import type { Event } from './generated/kv.js';
import type { WatchResponse } from './generated/rpc.js';
import { watch } from './methods.js';
import type { Session } from './session.js';

/** The first answer says that the watch stands (`created`); answers that come in pieces are put together. */
export async function* follow(
  session: Session,
  prefix: string,
  startRevision: number,
  signal: AbortSignal,
): AsyncGenerator<WatchResponse, never, undefined> {
  const { stream, endpoint } = await session.openStream(watch, signal);
  // Cancelling makes it fail once more, when nothing reads it any longer.
  stream.on('error', () => undefined);
  const cancel = (): void => stream.cancel();
  const unsubscribe = onAbort(signal, cancel);
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    cancel();
  }, session.timeouts.attempt);
  try {
    const createRequest = { ...toRange(prefix), startRevision, progressNotify: true, fragment: true };
    stream.write({ createRequest });
    let pieces: readonly Event[] = [];
    for await (const response of stream as AsyncIterable<WatchResponse>) {
      if (response.canceled) throw toCancellation(response);
      if (response.created) clearTimeout(patience);
      const events = pieces.length === 0 ? response.events : [...pieces, ...response.events];
      pieces = response.fragment ? events : [];
      if (!response.fragment) yield { ...response, events };
    }
    throw new EtcdFailure('unknown', 'the member ended the watch', { isAnswer: false });
  } catch (error) {
    signal.throwIfAborted();
    const failure = isLate ? lateFailure(session.timeouts.attempt) : toFailure(error);
    session.leave(endpoint, failure);
    throw failure;
  } finally {
    clearTimeout(patience);
    unsubscribe();
    cancel();
  }
}

const lateFailure = (milliseconds: number): EtcdFailure =>
  new EtcdFailure('unknown', `the watch was not made within ${milliseconds} ms`, { isAnswer: false });

function toCancellation({ compactRevision, cancelReason }: WatchResponse): EtcdFailure {
  if (compactRevision > 0) return new EtcdFailure('compacted', 'history was forgotten');
  return toFailure({ details: cancelReason === '' ? 'the member cancelled the watch' : cancelReason });
}
