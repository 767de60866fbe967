/** Work that several callers want at the same time is done once. */
export interface SharedWork<T> {
  /**
   * Joins what is under way for `key`, or begins it. The work's signal fires when all callers have lost interest, and who
   * wants it after that begins it anew when it has ended; each caller's own signal rejects only its own promise.
   */
  join(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Settles when nothing is under way. */
  idle(): Promise<void>;
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

export function createSharedWork<T>(): SharedWork<T> {
  const all = new Map<string, Running<T>>();

  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> => {
    const controller = new AbortController();
    const result = work(controller.signal).finally(() => all.get(key) === running && all.delete(key));
    result.catch(() => undefined); // a caller may have gone; the others are told
    const running = { result, controller, callers: 0 };
    all.set(key, running);
    return running;
  };

  return {
    async join(key, signal, work) {
      signal?.throwIfAborted();
      const former = all.get(key);
      const running =
        former?.controller.signal.aborted === false ? former : begin(key, after(former?.result, work));
      running.callers += 1;
      if (signal === undefined) return running.result;
      return followUntil(running, signal);
    },
    async idle() {
      await Promise.allSettled([...all.values()].map((running) => running.result));
    },
  };
}

function after<T>(
  former: Promise<T> | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  if (former === undefined) return work;
  return async (signal) => {
    await former.catch(() => undefined);
    signal.throwIfAborted();
    return work(signal);
  };
}

async function followUntil<T>(running: Running<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => {
      running.callers -= 1;
      if (running.callers === 0) running.controller.abort(signal.reason);
      // What was begun is taken back before the answer, where it is the last caller who leaves.
      else reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    running.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
