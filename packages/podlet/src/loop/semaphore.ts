/** Lets so many pieces of work run at once; the others wait in the order in which they came. */
export interface Semaphore {
  /** @throws the signal's reason when it is aborted before its turn */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSemaphore(permits: number): Semaphore {
  const queue = new Set<() => void>();
  let free = permits;
  const release = () => {
    const [next] = queue;
    if (next === undefined) {
      free += 1;
      return;
    }
    queue.delete(next);
    next();
  };
  const acquire = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await waitInQueue(queue, signal);
  };
  return {
    async run(work, signal) {
      await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

function waitInQueue(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      queue.delete(take);
      reject(toError(signal.reason));
    };
    queue.add(take);
    signal.addEventListener('abort', leave, { once: true });
  });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** Works through a list with so many at once. Errors are the work's own affair. */
export async function forEachLimited<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const drain = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, drain));
}
