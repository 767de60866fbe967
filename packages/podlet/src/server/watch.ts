/** Changes of pods as something to iterate over. */
import { AsyncQueue, onAbort } from '@podwire/platform';
import type { PodChange, PodletApi } from './api.js';

/** A watcher with more than this does not read: its watch ends, and it may come again. */
const longestQueue = 10_000;

/** The changes of `subscribe`, everything first, until the signal. */
export function watchPods(
  { subscribe }: Pick<PodletApi, 'subscribe'>,
  signal: AbortSignal,
): AsyncIterable<PodChange> {
  const cleanups: (() => void)[] = [];
  const queue = new AsyncQueue<PodChange>(() => {
    for (const cleanUp of cleanups) cleanUp();
  });
  // Checked here: a watcher that does not read does not ask for the next change either.
  const push = (change: PodChange): void => {
    queue.push(change);
    if (queue.length > longestQueue) queue.end();
  };
  cleanups.push(subscribe(push));
  cleanups.push(onAbort(signal, () => queue.end()));
  return queue;
}
