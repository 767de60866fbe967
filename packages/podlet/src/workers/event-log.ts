import type { PodEvent, PodEventRecord } from '../contract.js';

/** As long as an API server keeps events. */
const keptMs = 60 * 60 * 1000;
/** Of all pods together. */
const mostEvents = 1_000;
/** Characters of a message, as the API has it. */
const longestMessage = 1_024;

export type EventSubject = Pick<PodEventRecord, 'namespace' | 'name' | 'uid'>;

/** The latest events of all pods, also of those that have ended. The latest is the last; one that is repeated moves there. */
export class EventLog {
  readonly #now: () => number;
  readonly #events = new Map<string, PodEventRecord>();
  readonly #listeners = new Set<(event: PodEventRecord) => void>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  add({ namespace, name, uid }: EventSubject, event: PodEvent): void {
    const record = { namespace, name, uid, ...event, message: event.message.slice(0, longestMessage) };
    const key = JSON.stringify([uid, event.type, event.reason, event.message]);
    this.#events.delete(key);
    this.#events.set(key, record);
    this.#forgetOld();
    for (const listener of this.#listeners) listener(record);
  }

  list(): readonly PodEventRecord[] {
    this.#forgetOld();
    return [...this.#events.values()];
  }

  /** Told of each that is there, and of each to come. @returns how to stop being told */
  subscribe(listener: (event: PodEventRecord) => void): () => void {
    for (const event of this.list()) listener(event);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #forgetOld(): void {
    const oldest = this.#now() - keptMs;
    for (const [key, { lastAt }] of this.#events) {
      if (lastAt >= oldest && this.#events.size <= mostEvents) return;
      this.#events.delete(key);
    }
  }
}
