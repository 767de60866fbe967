/** Milliseconds. */
export interface BackoffOptions {
  readonly first: number;
  readonly longest: number;
}

/** The delay after so many failures in a row: `first`, doubled with each more, at most `longest`. */
export function backoffDelay(failures: number, { first, longest }: BackoffOptions): number {
  return Math.min(first * 2 ** Math.max(0, failures - 1), longest);
}

/** Counts failures in a row. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Notes a failure. @returns the delay before the next attempt */
  fail(): number {
    this.#failures += 1;
    return backoffDelay(this.#failures, this.#options);
  }

  reset(): void {
    this.#failures = 0;
  }
}
