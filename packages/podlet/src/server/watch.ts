/** Changes of pods as something to iterate over. */
import type { PodChange, PodletApi } from './api.js';

/** More than this and a watcher does not read: it is sent off, and may come again. */
const longestQueue = 10_000;

/** The changes of `subscribe`, everything first, until the signal. */
export async function* watchPods(
  { subscribe }: Pick<PodletApi, 'subscribe'>,
  signal: AbortSignal,
): AsyncIterable<PodChange> {
  const queue: PodChange[] = [];
  let isTooSlow = false;
  let wake = (): void => undefined;
  // Looked at here, since who does not read does not come back to ask for the next change either.
  const unsubscribe = subscribe((change) => {
    queue.push(change);
    if (queue.length > longestQueue) {
      isTooSlow = true;
      queue.length = 0;
      unsubscribe();
    }
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!signal.aborted && !isTooSlow) {
      yield* queue.splice(0);
      if (queue.length === 0 && !signal.aborted && !isTooSlow)
        await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unsubscribe();
  }
}
