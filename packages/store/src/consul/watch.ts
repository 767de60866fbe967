/**
 * Watches. Consul has no history: it says that there is news below a prefix, and what is there now. So a watch keeps what it
 * last saw and compares. What came and went between two looks is not seen, as the contract allows.
 */
import type { Clock } from '@podwire/rim';
import type { Change, Item, Listing, WatchBatch, WatchOptions } from '../contract.js';
import type { ConsulHttp } from './http.js';
import { awaitNews, readListing } from './reads.js';

export interface WatchSource {
  readonly http: ConsulHttp;
  readonly clock: Clock;
}

interface Seen {
  readonly items: ReadonlyMap<string, Item>;
  readonly revision: number;
}

/** Milliseconds from one look to the next while news come thick and fast: each look is a whole listing. */
const leastPause = 50;

export async function* watchPrefix(
  source: WatchSource,
  prefix: string,
  options: WatchOptions,
): AsyncGenerator<WatchBatch, void> {
  const { signal } = options;
  const attempts = createAttempts(source.clock, options);
  let seen: Seen | undefined;
  while (!signal.aborted) {
    try {
      const next = await look(source, prefix, seen, signal);
      attempts.succeeded();
      const batch = seen === undefined ? begin(next, options.from) : compare(seen, next);
      seen = remember(next);
      if (batch !== undefined) yield batch;
    } catch (error) {
      if (isOver(signal)) return;
      await attempts.failed(error);
    }
  }
}

// A function of its own: the compiler believes that a signal which was not aborted stays so.
const isOver = (signal: AbortSignal): boolean => signal.aborted;

/** Waits for news when something was seen before, and reads everything. */
async function look(
  { http, clock }: WatchSource,
  prefix: string,
  seen: Seen | undefined,
  signal: AbortSignal,
): Promise<Listing> {
  if (seen === undefined) return readListing(http, prefix, signal);
  for (;;) {
    const since = clock.elapsed();
    const index = await awaitNews(http, prefix, seen.revision, signal);
    const hurry = leastPause - (clock.elapsed() - since);
    if (hurry > 0) await clock.sleep(hurry, signal);
    // The same: time was up without news.
    if (index !== seen.revision) return readListing(http, prefix, signal);
  }
}

const remember = ({ items, revision }: Listing): Seen => ({
  items: new Map(items.map((item) => [item.key, item])),
  revision,
});

/** The first look. The caller has seen everything when nothing was written or deleted since. */
function begin({ items, revision }: Listing, from: number | undefined): WatchBatch | undefined {
  return from !== undefined && revision <= from ? undefined : { type: 'snapshot', items, revision };
}

function compare(before: Seen, now: Listing): WatchBatch | undefined {
  const changes = findChanges(before, now);
  if (changes.length === 0) return undefined;
  // Backwards: a backup was restored. (Or the memory of the last deletion has run out; then nothing has changed.)
  if (now.revision < before.revision) return { type: 'snapshot', items: now.items, revision: now.revision };
  return { type: 'changes', changes, revision: now.revision };
}

/** Deletions first: a key that was created anew since is not among them. */
function findChanges(before: Seen, { items, revision }: Listing): Change[] {
  const now = new Set(items.map(({ key }) => key));
  const gone = [...before.items.keys()].filter((key) => !now.has(key));
  const written = items.filter((item) => before.items.get(item.key)?.revision !== item.revision);
  return [
    ...gone.map((key): Change => ({ type: 'delete', key, revision })),
    ...written.toSorted((a, b) => a.revision - b.revision).map((item): Change => ({ type: 'put', item })),
  ];
}

const firstPause = 100;
const longestPause = 10_000;

/** Pauses that grow from failure to failure; who follows hears of the first failure and of the end of them. */
function createAttempts(
  clock: Clock,
  { signal, onInterruption, onRecovery }: WatchOptions,
): { succeeded(): void; failed(error: unknown): Promise<void> } {
  let pause: number | undefined;
  return {
    succeeded() {
      if (pause !== undefined) onRecovery?.();
      pause = undefined;
    },
    async failed(error) {
      if (pause === undefined) onInterruption?.(error);
      pause = Math.min(pause === undefined ? firstPause : pause * 2, longestPause);
      // Its end is seen by the loop.
      await clock.sleep(pause, signal).catch(() => undefined);
    },
  };
}
