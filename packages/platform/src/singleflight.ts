/** Work that several callers want at the same time is done once. */
import { onAbort } from './abort.js';

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

/** By key. Work is cancelled when its last caller has left. */
export class Singleflight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * Joins the work of this key, or begins it. When `signal` fires, only this caller is rejected with its reason. The last one to
   * leave cancels the work and gets its outcome, so that it knows when a partial effect has been undone. Who comes after that
   * begins anew once the cancelled work has ended.
   */
  async join(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const former = this.#flights.get(key);
    const flight = former?.controller.signal.aborted === false ? former : this.#begin(key, former, work);
    flight.callers += 1;
    return signal === undefined ? flight.result : follow(flight, signal);
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#flights.size > 0)
      await Promise.allSettled([...this.#flights.values()].map(({ result }) => result));
  }

  #begin(key: string, former: Flight<T> | undefined, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const begun = former === undefined ? work(controller.signal) : after(former, controller.signal, work);
    const result = begun.finally(() => this.#flights.get(key) === flight && this.#flights.delete(key));
    // A caller that has left is not told; the others are.
    result.catch(() => undefined);
    const flight: Flight<T> = { result, controller, callers: 0 };
    this.#flights.set(key, flight);
    return flight;
  }
}

async function after<T>(
  former: Flight<T>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  await former.result.catch(() => undefined);
  signal.throwIfAborted();
  return work(signal);
}

function follow<T>(flight: Flight<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const unsubscribe = onAbort(signal, (reason) => {
      flight.callers -= 1;
      if (flight.callers === 0) flight.controller.abort(reason);
      else reject(reason);
    });
    flight.result.then(resolve, reject).finally(unsubscribe);
  });
}

/** A value that is made when it is first wanted. */
export interface OnDemand<T> {
  /** Makes it, or joins the attempt under way. The next call after a failure tries again. @throws as the start does */
  get(): Promise<T>;
  /** The value or the attempt under way; undefined if it was not wanted yet or the attempt failed. Never rejects. */
  started(): Promise<T | undefined>;
}

export function createOnDemand<T>(start: () => Promise<T>): OnDemand<T> {
  let known: Promise<T> | undefined;
  const attempt = (): Promise<T> =>
    start().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  return {
    get: () => (known ??= attempt()),
    started: async () => known?.catch(() => undefined),
  };
}
