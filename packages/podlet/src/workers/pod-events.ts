import type { PodEvent, PodEventType } from '../contract.js';

/** Events of one pod. A repeated event increases its count. */
export interface PodEvents {
  /** @returns the event as it stands now. */
  add(type: PodEventType, reason: string, message: string, now: number): PodEvent;
  list(): readonly PodEvent[];
}

const mostEvents = 50;

export function createPodEvents(): PodEvents {
  const events = new Map<string, PodEvent>();
  return {
    add(type, reason, message, now) {
      const key = `${reason}\n${message}`;
      const known = events.get(key);
      const event = {
        type,
        reason,
        message,
        at: known?.at ?? now,
        lastAt: now,
        count: (known?.count ?? 0) + 1,
      };
      events.delete(key);
      events.set(key, event);
      forgetOldest(events);
      return event;
    },
    list: () => [...events.values()],
  };
}

function forgetOldest(events: Map<string, PodEvent>): void {
  const [oldest] = events.keys();
  if (events.size > mostEvents && oldest !== undefined) events.delete(oldest);
}
