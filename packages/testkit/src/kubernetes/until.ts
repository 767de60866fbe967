import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again, for what has no event: until `look` returns something. An error counts as nothing yet.
 * @throws Error with the last error, or with what `describe` says, after `timeout` milliseconds (60 s); it looks every `interval`
 * (50 ms)
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  options: { readonly timeout?: number; readonly interval?: number; readonly describe?: () => unknown } = {},
): Promise<T> {
  const end = Date.now() + (options.timeout ?? 60_000);
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(
        `not yet ${what}: ${last instanceof Error ? last.message : ''}\n${await explain(options.describe)}`,
      );
    await sleep(options.interval ?? 50);
  }
}

async function explain(describe: (() => unknown) | undefined): Promise<string> {
  const told = await Promise.resolve(describe?.()).catch(String);
  return typeof told === 'string' ? told : JSON.stringify(told, null, 2);
}
