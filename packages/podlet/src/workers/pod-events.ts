import type { PodEvent, PodEventType } from '../contract.js';

const mostEvents = 50;

/** Events of one pod. A repeated event increases its count. */
export class PodEvents {
  readonly #events = new Map<string, PodEvent>();

  /** @returns the event as it stands now. */
  add(type: PodEventType, reason: string, message: string, now: number): PodEvent {
    const key = `${reason}\n${message}`;
    const { at = now, count = 0 } = this.#events.get(key) ?? {};
    const event = { type, reason, message, at, lastAt: now, count: count + 1 };
    this.#events.delete(key);
    this.#events.set(key, event);
    const [oldest] = this.#events.keys();
    if (this.#events.size > mostEvents && oldest !== undefined) this.#events.delete(oldest);
    return event;
  }

  list(): readonly PodEvent[] {
    return [...this.#events.values()];
  }
}
