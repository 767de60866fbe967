/** Pauses that double with every failure, by key. Milliseconds throughout; pure but for its own memory. */

export interface BackOffRule {
  readonly initial: number;
  readonly max: number;
}

export interface BackOff {
  /** How long still to wait when the last failure was at `since`; 0 when it may go on. */
  remaining(key: string, since: number, now: number): number;
  /** Another attempt is made because of the failure at `since`: the next pause is longer. */
  next(key: string, now: number): void;
  /** The latest pause, 0 when there was none. */
  pause(key: string): number;
  forget(key: string): void;
}

export function createBackOff({ initial, max }: BackOffRule): BackOff {
  const entries = new Map<string, { pause: number; updated: number }>();
  /** What went well for twice the longest pause starts anew. */
  const isOld = (updated: number, now: number) => now - updated > 2 * max;
  return {
    remaining(key, since, now) {
      const entry = entries.get(key);
      if (entry === undefined || isOld(entry.updated, since)) return 0;
      // Both lie ahead: the clock was set back since then.
      if (since > now && entry.updated > now) return 0;
      return Math.max(0, since + entry.pause - now);
    },
    next(key, now) {
      const entry = entries.get(key);
      const fresh = entry === undefined || isOld(entry.updated, now);
      entries.set(key, { pause: fresh ? initial : Math.min(max, entry.pause * 2), updated: now });
    },
    pause: (key) => entries.get(key)?.pause ?? 0,
    forget: (key) => void entries.delete(key),
  };
}
