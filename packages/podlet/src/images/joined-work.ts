/** Work that several wait for and that is done once. */
export interface JoinedWork<T> {
  /** Begins the work, or joins that of the same key. It is cancelled when nobody waits for it any more. */
  join(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export function createJoinedWork<T>(): JoinedWork<T> {
  const running = new Map<string, Running<T>>();
  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> => {
    const controller = new AbortController();
    const entry = { result: work(controller.signal), controller, waiting: 0 };
    const end = () => {
      if (running.get(key) === entry) running.delete(key);
    };
    entry.result.then(end, end);
    running.set(key, entry);
    return entry;
  };
  return {
    async join(key, work, signal) {
      signal.throwIfAborted();
      const entry = running.get(key) ?? begin(key, work);
      entry.waiting += 1;
      try {
        return await unlessAborted(entry.result, signal);
      } finally {
        entry.waiting -= 1;
        if (entry.waiting === 0) {
          // Whoever comes now begins anew instead of joining what is being cancelled.
          if (running.get(key) === entry) running.delete(key);
          entry.controller.abort(signal.reason);
        }
      }
    },
  };
}

async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
