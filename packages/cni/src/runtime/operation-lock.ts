import { KeyedMutex } from '@podwire/platform';
import { cancelled } from './deadline.js';

/**
 * Which operations may run at the same time (specification, section 3, "Lifecycle & Ordering"): those on one container are
 * serial, those on different containers parallel, and garbage collection runs alone. First come, first served.
 */
export interface OperationLock {
  /** Runs beside others, but not beside one with the same key. @throws CniError code 11 if the signal fires first */
  shared<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
  /** Waits for everything that came before, runs alone, and holds back everything that comes after. @throws as above */
  exclusive<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

export function createOperationLock(): OperationLock {
  const mutex = new KeyedMutex();
  return {
    shared: (key, signal, work) => translate(work, (run) => mutex.withKey(key, signal, run)),
    exclusive: (signal, work) => translate(work, (run) => mutex.withAll(signal, run)),
  };
}

/** The mutex rejects with the signal's reason; callers of this package get CniErrors. */
async function translate<T>(
  work: () => Promise<T>,
  enter: (run: () => Promise<T>) => Promise<T>,
): Promise<T> {
  let isEntered = false;
  try {
    return await enter(() => {
      isEntered = true;
      return work();
    });
  } catch (error) {
    throw isEntered ? error : cancelled(error);
  }
}
