/** Results of promises, where a failure is an answer. */

/** The value; undefined if the work fails as expected, such as for a file that is missing. @throws any other error */
export async function orUndefined<T>(
  work: Promise<T>,
  isExpected: (error: unknown) => boolean,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}

/** Reports if the work succeeds. Never rejects. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** Does pieces of work that must all be tried, and keeps what they throw. */
export class ErrorCollector {
  readonly #errors: unknown[] = [];

  async collect(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => this.#errors.push(error));
  }

  /** @throws the only error, or an AggregateError with this message */
  throwIfAny(message: string): void {
    if (this.#errors.length === 1) throw this.#errors[0];
    if (this.#errors.length > 1) throw new AggregateError(this.#errors, message);
  }
}
