/** Every subscriber gets all events from then on. */
import { CriError } from '../error.js';
import type { CallOptions } from '../services.js';

export interface Broadcast<Event> {
  publish(event: Event): void;
  /** Whether there is a subscriber. */
  hasListeners(): boolean;
  /** Listens from the first `next()` on, until the signal. */
  listen(options: CallOptions): AsyncGenerator<Event, void, undefined>;
}

interface Listener<Event> {
  readonly queue: Event[];
  wake: () => void;
}

export function createBroadcast<Event>(): Broadcast<Event> {
  const listeners = new Set<Listener<Event>>();
  return {
    publish: (event) => {
      for (const listener of listeners) {
        listener.queue.push(event);
        listener.wake();
      }
    },
    hasListeners: () => listeners.size > 0,
    listen: async function* ({ signal }) {
      const listener: Listener<Event> = { queue: [], wake: () => {} };
      listeners.add(listener);
      const wake = (): void => listener.wake();
      signal?.addEventListener('abort', wake);
      try {
        while (!isOver(signal)) {
          yield* listener.queue.splice(0);
          if (listener.queue.length === 0 && !isOver(signal)) await woken(listener);
        }
        throw new CriError('CANCELLED', 'GetContainerEvents: the caller has given up');
      } finally {
        signal?.removeEventListener('abort', wake);
        listeners.delete(listener);
      }
    },
  };
}

const isOver = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

const woken = (listener: Listener<unknown>): Promise<void> =>
  new Promise((resolve) => {
    listener.wake = resolve;
  });
