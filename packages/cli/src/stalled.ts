import type { EventEmitter } from 'node:events';
import { PodwireError } from '@podwire/errors';

/**
 * Waits for `work`. When the event loop is empty before it has ended, nothing can end it any more: Node would exit with code 13 and
 * without a word.
 * @param loop emits `beforeExit` when the event loop is empty, as `process` does
 * @throws PodwireError INTERNAL then
 */
export async function endWithLoop<T>(loop: Pick<EventEmitter, 'once' | 'off'>, work: Promise<T>): Promise<T> {
  let fail: () => void = () => undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    fail = () =>
      reject(new PodwireError('INTERNAL', 'the command waits for something that can no longer come'));
  });
  loop.once('beforeExit', fail);
  try {
    return await Promise.race([work, stalled]);
  } finally {
    loop.off('beforeExit', fail);
  }
}
