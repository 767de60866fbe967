/** Patience with what is repaired again and again: another program may want it otherwise, and neither side gives in. */

/** Repairs without a pause in between; then one after a second, two, four, up to the longest. */
const AT_ONCE = 5;
/** Looks in a row that find nothing; then one each {@link IDLE_PAUSE}. */
const LOOKS_AT_ONCE = 25;
/** Milliseconds. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
const IDLE_PAUSE = 1_000;
/** After so long without a look it is a new story: what people change by hand every few seconds is no contest. */
const QUIET = 2_000;
/** Subjects that are remembered before old ones are forgotten. */
const MANY = 10_000;

interface Looks {
  readonly repairs: number;
  readonly looks: number;
  readonly last: number;
}

export class BackingOff {
  readonly #now: () => number;
  readonly #subjects = new Map<string, Looks>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  mayLook(subject: string): boolean {
    const looks = this.#subjects.get(subject);
    return looks === undefined || this.#now() - looks.last >= pauseAfter(looks);
  }

  /**
   * @param isRepaired something was wrong
   * @returns milliseconds until the next repair, where a pause begins with this one
   */
  noteLook(subject: string, isRepaired: boolean): number | undefined {
    const known = this.#subjects.get(subject);
    const isNew = known === undefined || this.#now() - known.last > QUIET + 2 * pauseAfter(known);
    const before = isNew ? { repairs: 0, looks: 0 } : known;
    const after = {
      repairs: before.repairs + Number(isRepaired),
      looks: before.looks + 1,
      last: this.#now(),
    };
    this.#subjects.set(subject, after);
    if (this.#subjects.size > MANY) this.#forgetOld();
    return isRepaired && after.repairs === AT_ONCE + 1 ? pauseAfter(after) : undefined;
  }

  #forgetOld(): void {
    for (const [subject, { last }] of this.#subjects)
      if (this.#now() - last > 2 * LONGEST_PAUSE) this.#subjects.delete(subject);
  }
}

function pauseAfter({ repairs, looks }: Omit<Looks, 'last'>): number {
  if (repairs > AT_ONCE) return Math.min(FIRST_PAUSE * 2 ** (repairs - AT_ONCE - 1), LONGEST_PAUSE);
  return looks > LOOKS_AT_ONCE ? IDLE_PAUSE : 0;
}
