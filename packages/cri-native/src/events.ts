import type { ContainerEventResponse } from '@podwire/cri';

/** Hands events to all current subscribers. */
export interface EventHub {
  emit(event: ContainerEventResponse): void;
  listen(signal: AbortSignal | undefined): AsyncIterable<ContainerEventResponse>;
  close(): void;
}

/** A listener that is further behind than this has lost interest; it has to list again when it comes back. */
const mostWaiting = 10_000;

interface Listener {
  readonly waiting: ContainerEventResponse[];
  wake: () => void;
  ended: boolean;
}

export function createEventHub(): EventHub {
  const listeners = new Set<Listener>();
  const end = (listener: Listener): void => {
    listener.ended = true;
    listeners.delete(listener);
    listener.wake();
  };
  return {
    emit(event) {
      for (const listener of listeners) {
        listener.waiting.push(event);
        if (listener.waiting.length > mostWaiting) end(listener);
        else listener.wake();
      }
    },
    listen(signal) {
      const listener: Listener = { waiting: [], wake: () => undefined, ended: false };
      listeners.add(listener);
      const leave = (): void => end(listener);
      if (signal?.aborted === true) leave();
      signal?.addEventListener('abort', leave, { once: true });
      return follow(listener, () => {
        leave();
        signal?.removeEventListener('abort', leave);
      });
    },
    close() {
      for (const listener of listeners) end(listener);
    },
  };
}

async function* follow(listener: Listener, leave: () => void): AsyncGenerator<ContainerEventResponse> {
  try {
    for (;;) {
      while (listener.waiting.length > 0) yield listener.waiting.shift() as ContainerEventResponse;
      if (listener.ended) return;
      await new Promise<void>((resolve) => (listener.wake = resolve));
    }
  } finally {
    leave();
  }
}
