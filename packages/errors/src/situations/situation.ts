/**
 * For each code the situations in which people meet it, as they read it: to decide whether the advice fits all of them.
 * `docs/errors.md` shows them. A test compares each with the file that raises it.
 */
export interface Situation {
  /** The file that raises it. */
  readonly site: string;
  /** An example. What differs from case to case stands between ‹ and ›; the rest are the words of the site. */
  readonly message: string;
  /** The advice of the site, marked in the same way; null when it says that there is none. Absent: that of the code. */
  readonly action?: string | null;
}

export type Situations = readonly [Situation, ...Situation[]];
