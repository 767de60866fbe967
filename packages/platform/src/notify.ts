import { onAbort } from './abort.js';
import type { Clock } from './environment.js';

/** Wakes one waiting loop. A call while the loop is busy is remembered; several of them count as one. */
export class Notify {
  #isSet = false;
  #wake = (): void => undefined;

  /** May be passed as a listener. */
  readonly notify = (): void => {
    this.#isSet = true;
    this.#wake();
  };

  /** Forgets the calls since the last wait. */
  clear(): void {
    this.#isSet = false;
  }

  /** Resolves at the next call of `notify`, or at once if there was one since the last wait. @throws the signal's reason */
  async notified(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isSet) {
      await new Promise<void>((resolve, reject) => {
        const unsubscribe = onAbort(signal, reject);
        this.#wake = () => {
          unsubscribe();
          resolve();
        };
      });
    }
    this.#isSet = false;
  }

  /** As {@link notified}, for so many milliseconds at most. @returns whether it was notified; false also if the signal fired */
  async notifiedWithin(
    milliseconds: number,
    clock: Pick<Clock, 'sleep'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted) return false;
    const awake = new AbortController();
    const unsubscribe = onAbort(signal, () => awake.abort());
    this.#wake = () => awake.abort();
    if (!this.#isSet) await clock.sleep(milliseconds, awake.signal).catch(() => undefined);
    unsubscribe();
    this.#wake = () => undefined;
    if (signal.aborted || !this.#isSet) return false;
    this.#isSet = false;
    return true;
  }
}
