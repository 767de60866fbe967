/** Patience with what is changed again and again: another program may want it otherwise, and neither side gives in. */

/** Looks without a pause in between; then one after a second, two, four, up to the longest. */
const AT_ONCE = 5;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
/** After so long without a try it is a new story. */
const QUIET = 10_000;

interface Tries {
  readonly count: number;
  readonly last: number;
}

export class BackingOff {
  readonly #now: () => number;
  readonly #tries = new Map<string, Tries>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  mayTry(subject: string): boolean {
    const tries = this.#tries.get(subject);
    return tries === undefined || this.#now() - tries.last >= pauseAfter(tries.count);
  }

  /** @returns milliseconds until the next try where a pause begins with this one */
  noteTry(subject: string): number | undefined {
    const before = this.#tries.get(subject);
    const isQuiet = before === undefined || this.#now() - before.last > QUIET + 2 * pauseAfter(before.count);
    const count = isQuiet ? 1 : before.count + 1;
    this.#tries.set(subject, { count, last: this.#now() });
    if (this.#tries.size > 10_000) this.#forgetOld();
    return count === AT_ONCE + 1 ? pauseAfter(count) : undefined;
  }

  #forgetOld(): void {
    for (const [subject, { last }] of this.#tries)
      if (this.#now() - last > 2 * LONGEST_PAUSE) this.#tries.delete(subject);
  }
}

function pauseAfter(count: number): number {
  if (count <= AT_ONCE) return 0;
  return Math.min(FIRST_PAUSE * 2 ** (count - AT_ONCE - 1), LONGEST_PAUSE);
}
