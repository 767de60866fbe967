/** Events of a runtime for all of its current listeners. */
import { AsyncQueue, onAbort } from '@podwire/platform';
import type { ContainerEventResponse } from './messages.js';

/** A listener that is further behind than this has lost interest; it has to list again when it comes back. */
const mostWaiting = 10_000;

export class EventBroadcast {
  readonly #listeners = new Set<AsyncQueue<ContainerEventResponse>>();

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: ContainerEventResponse): void {
    for (const listener of this.#listeners) {
      listener.push(event);
      if (listener.length > mostWaiting) listener.end();
    }
  }

  /** All events from now on until the signal. @param why what the listener gets when the signal fires; it just ends when absent */
  listen(signal: AbortSignal | undefined, why?: Error): AsyncIterable<ContainerEventResponse> {
    let unsubscribe = (): void => undefined;
    const queue = new AsyncQueue<ContainerEventResponse>(() => {
      this.#listeners.delete(queue);
      unsubscribe();
    });
    this.#listeners.add(queue);
    unsubscribe = onAbort(signal, () => (why === undefined ? queue.end() : queue.fail(why)));
    return queue;
  }

  close(): void {
    for (const listener of this.#listeners) listener.end();
  }
}
