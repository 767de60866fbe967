/**
 * Who may work on what at the same time (CNI specification 1.1.0, section 2): operations on one endpoint are serial,
 * different endpoints go side by side, and what concerns all of them (GC, reconcile, recovery) has the node alone.
 * Everyone is served in the order of arrival, so that neither kind can starve the other.
 */
export interface Locks {
  /**
   * Runs `work` when nothing else works on `key`, nor on everything. It must not wait for the cluster: whoever wants everything
   * waits for it, and all others behind that one.
   * @throws the signal's reason when it fires before the turn has come
   */
  withEndpoint<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Runs `work` alone. @throws as above */
  withAll<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** `undefined` stands for everything. */
type Key = string | undefined;
interface Waiter {
  readonly key: Key;
  readonly enter: () => void;
}

export function createLocks(): Locks {
  const held = new Set<Key>();
  let waiting: Waiter[] = [];

  const admits = (key: Key, ahead: ReadonlySet<Key>): boolean =>
    key === undefined
      ? held.size === 0 && ahead.size === 0
      : !held.has(undefined) && !held.has(key) && !ahead.has(undefined) && !ahead.has(key);

  /** Lets in everyone who conflicts neither with a holder nor with an earlier waiter. */
  function admitWaiters(): void {
    const ahead = new Set<Key>();
    const still: Waiter[] = [];
    for (const waiter of waiting) {
      if (admits(waiter.key, ahead)) {
        held.add(waiter.key);
        waiter.enter();
      } else {
        ahead.add(waiter.key);
        still.push(waiter);
      }
    }
    waiting = still;
  }

  function release(key: Key): void {
    held.delete(key);
    if (waiting.length > 0) admitWaiters();
  }

  function wait(key: Key, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting = waiting.filter((other) => other !== waiter);
        admitWaiters();
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        key,
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(waiter);
      admitWaiters();
    });
  }

  async function run<T>(key: Key, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (waiting.length === 0 && admits(key, held)) held.add(key);
    else await wait(key, signal);
    try {
      return await work();
    } finally {
      release(key);
    }
  }

  return {
    withEndpoint: (key, signal, work) => run(key, signal, work),
    withAll: (signal, work) => run(undefined, signal, work),
  };
}
