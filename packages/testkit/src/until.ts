/** Waiting for what has no event: it is asked for again and again. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** milliseconds; a minute when absent */
  readonly timeout?: number;
  /** milliseconds between two looks; 50 when absent */
  readonly interval?: number;
}

/**
 * Looks until it is so. An error ends it at once.
 * @throws Error with what was last seen (a string says what is missing)
 */
export async function eventually(
  what: string,
  look: () => boolean | string | Promise<boolean | string>,
  patience: Patience = {},
): Promise<void> {
  const seen = await lookAgain(look, (value) => value === true, patience);
  if (seen !== true) throw new Error(`not so in time: ${what}${seen === false ? '' : `: ${seen}`}`);
}

/**
 * Looks until there is something, and returns that. An error counts as nothing yet.
 * @throws Error with the last error and with what `describe` says
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { describe, ...patience }: Patience & { readonly describe?: () => unknown } = {},
): Promise<T> {
  let last: unknown;
  const attempt = async (): Promise<T | undefined | false> => {
    last = undefined;
    try {
      return await look();
    } catch (error) {
      last = error;
      return undefined;
    }
  };
  const found = await lookAgain(attempt, (value) => value !== undefined && value !== false, patience);
  if (found !== undefined && found !== false) return found;
  throw new Error(
    `not yet ${what}: ${last instanceof Error ? last.message : ''}\n${await explain(describe)}`,
  );
}

/** The value when it was enough, or when the time was over. */
async function lookAgain<T>(
  look: () => T | Promise<T>,
  isEnough: (seen: T) => boolean,
  { timeout = 60_000, interval = 50 }: Patience,
): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    const seen = await look();
    if (isEnough(seen) || performance.now() > end) return seen;
    await sleep(interval);
  }
}

async function explain(describe: (() => unknown) | undefined): Promise<string> {
  const told = await Promise.resolve(describe?.()).catch(String);
  return typeof told === 'string' ? told : JSON.stringify(told, null, 2);
}
