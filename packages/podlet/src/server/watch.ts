/** Changes of pods as something to iterate over. */
import type { PodChange, PodletApi } from './api.js';

/** More than this and a watcher does not read: it is sent off, and may come again. */
const longestQueue = 10_000;

/** What `subscribe` tells, everything first, until the signal. */
export async function* watchPods(
  { subscribe }: Pick<PodletApi, 'subscribe'>,
  signal: AbortSignal,
): AsyncIterable<PodChange> {
  const queue: PodChange[] = [];
  let wake = (): void => undefined;
  const unsubscribe = subscribe((change) => {
    queue.push(change);
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!signal.aborted && queue.length <= longestQueue) {
      yield* queue.splice(0);
      if (queue.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unsubscribe();
  }
}
