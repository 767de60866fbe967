/** Changes of pods as something to iterate over. */
import type { PodChange, PodletApi } from './api.js';

/** More than this and a watcher does not read: it is sent off, and may come again. */
const longestQueue = 10_000;

/** Everything first, then each change, until the signal. */
export async function* watchPods(
  { pods, problems, subscribe }: Pick<PodletApi, 'pods' | 'problems' | 'subscribe'>,
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
    yield { kind: 'all', pods: pods(), problems: problems() };
    while (!signal.aborted && queue.length <= longestQueue) {
      yield* queue.splice(0);
      if (queue.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unsubscribe();
  }
}
