/** Pauses that double with every failure, by key. Milliseconds throughout; pure but for its own memory. */

export interface BackOffRule {
  readonly initial: number;
  readonly max: number;
}

export class BackOff {
  readonly #rule: BackOffRule;
  readonly #entries = new Map<string, { pause: number; updated: number }>();

  constructor(rule: BackOffRule) {
    this.#rule = rule;
  }

  /** How long still to wait when the last failure was at `since`; 0 when it may go on. */
  remaining(key: string, since: number, now: number): number {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isOld(entry.updated, since)) return 0;
    // Both lie ahead: the clock was set back since then.
    if (since > now && entry.updated > now) return 0;
    return Math.max(0, since + entry.pause - now);
  }

  /** Another attempt is made because of a failure: the next pause is longer. */
  next(key: string, now: number): void {
    const { initial, max } = this.#rule;
    const entry = this.#entries.get(key);
    const fresh = entry === undefined || this.#isOld(entry.updated, now);
    this.#entries.set(key, { pause: fresh ? initial : Math.min(max, entry.pause * 2), updated: now });
  }

  /** The latest pause, 0 when there was none. */
  pause(key: string): number {
    return this.#entries.get(key)?.pause ?? 0;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** After twice the longest pause without a failure the pauses start anew. */
  #isOld(updated: number, now: number): boolean {
    return now - updated > 2 * this.#rule.max;
  }
}
