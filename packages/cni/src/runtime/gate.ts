import { givenUp } from './deadline.js';

/**
 * Who may run beside whom (specification, section 3, "Lifecycle & Ordering"): operations on one container one after the
 * other, on different containers side by side, and garbage collection alone.
 */
export interface Gate {
  /** Runs beside others, but not beside one with the same key. */
  shared<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
  /** Waits for everything that came before, runs alone, and holds back everything that comes after. */
  exclusive<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** One that waits; without a key it wants to be alone. */
interface Waiter {
  readonly key: string | undefined;
  readonly start: () => void;
}

/** A gate for this process. First come, first served: a waiting collection is not overtaken. */
export function createGate(): Gate {
  const waiting: Waiter[] = [];
  const busy = new Set<string>();
  let alone = false;

  /** Starts, in order, all who may run; one who may not holds back those behind who want the same. */
  const admit = (): void => {
    const held = new Set(busy);
    for (let index = 0; index < waiting.length && !alone;) {
      const waiter = waiting[index] as Waiter;
      if (waiter.key === undefined) {
        if (busy.size > 0 || index > 0) return;
        alone = true;
      } else if (held.has(waiter.key)) {
        index++;
        continue;
      } else {
        busy.add(waiter.key);
        held.add(waiter.key);
      }
      waiting.splice(index, 1);
      waiter.start();
    }
  };

  const enter = (key: string | undefined, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(givenUp(signal?.reason));
        admit();
      };
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter: Waiter = { key, start };
      waiting.push(waiter);
      if (signal?.aborted === true) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      admit();
    });

  const leave = (key: string | undefined): void => {
    if (key === undefined) alone = false;
    else busy.delete(key);
    admit();
  };

  const pass = async <T>(
    key: string | undefined,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    await enter(key, signal);
    try {
      return await work();
    } finally {
      leave(key);
    }
  };
  return {
    shared: (key, signal, work) => pass(key, signal, work),
    exclusive: (signal, work) => pass(undefined, signal, work),
  };
}
