import { setTimeout } from 'node:timers/promises';
import { assertSameSnapshot, type DiffOptions, diffSnapshots } from './diff.js';
import type { Snapshot } from './snapshot.js';

/**
 * Takes snapshots until one equals `before`: for what is cleaned up a moment later by intention, such as links that are
 * deleted in batches.
 * @throws Error with the differences that are left after `timeout` milliseconds (5 s)
 */
export async function untilSameSnapshot(
  before: Snapshot,
  take: () => Promise<Snapshot>,
  options: DiffOptions & { readonly timeout?: number } = {},
): Promise<void> {
  const end = performance.now() + (options.timeout ?? 5_000);
  for (;;) {
    const now = await take();
    if (diffSnapshots(before, now, options).length === 0) return;
    if (performance.now() > end) assertSameSnapshot(before, now, options);
    await setTimeout(20);
  }
}
