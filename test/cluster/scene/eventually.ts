/** Waiting for what happens in the background. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Looks until it is so. @throws Error with what was last seen (a string says what is missing) */
export async function eventually(
  what: string,
  look: () => boolean | string | Promise<boolean | string>,
  { seconds = 40, every = 50 }: { readonly seconds?: number; readonly every?: number } = {},
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    const seen = await look();
    if (seen === true) return;
    if (performance.now() > end) {
      throw new Error(`not so after ${seconds} s: ${what}${typeof seen === 'string' ? `: ${seen}` : ''}`);
    }
    await sleep(every);
  }
}
