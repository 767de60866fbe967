/** Changes of pods as something to iterate over. */
import { AsyncQueue, onAbort } from '@podwire/platform';
import type { PodEventRecord } from '../contract.js';
import type { PodChange, PodletApi } from './api.js';

/** A watcher with more than this does not read: its watch ends, and it may come again. */
const longestQueue = 10_000;

/** The changes of `subscribe`, everything first, until the signal. */
export function watchPods(
  { subscribe }: Pick<PodletApi, 'subscribe'>,
  signal: AbortSignal,
): AsyncIterable<PodChange> {
  return iterate(subscribe, signal);
}

/** Events that are there, then those to come, until the signal. */
export function watchEvents(
  { subscribeEvents }: Pick<PodletApi, 'subscribeEvents'>,
  signal: AbortSignal,
): AsyncIterable<PodEventRecord> {
  return iterate(subscribeEvents, signal);
}

function iterate<T>(
  subscribe: (listener: (item: T) => void) => () => void,
  signal: AbortSignal,
): AsyncIterable<T> {
  const cleanups: (() => void)[] = [];
  const queue = new AsyncQueue<T>(() => {
    for (const cleanUp of cleanups) cleanUp();
  });
  // Checked here: a watcher that does not read does not ask for the next change either.
  const push = (item: T): void => {
    queue.push(item);
    if (queue.length > longestQueue) queue.end();
  };
  cleanups.push(subscribe(push));
  cleanups.push(onAbort(signal, () => queue.end()));
  return queue;
}
