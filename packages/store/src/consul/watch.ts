/**
 * Watches. Consul has no history: it reports that a prefix has changed, and its current items. So a watch keeps the last listing
 * and compares. An item that came and went between two listings is not seen, as the contract allows.
 */
import { AsyncQueue, type Clock, onAbort } from '@podwire/platform';
import { createAttempts } from '../attempts.js';
import type { Change, Item, Listing, WatchBatch, WatchOptions } from '../contract.js';
import type { ConsulHttp } from './http.js';
import { awaitNews, readListing, readTop } from './reads.js';

export interface WatchSource {
  readonly http: ConsulHttp;
  readonly clock: Clock;
  /** Ends all watches. */
  readonly closed: AbortSignal;
}

interface Seen {
  readonly items: ReadonlyMap<string, Item>;
  readonly revision: number;
}

/** Milliseconds between listings when changes come in quick succession. */
const leastPause = 50;

/** Batches queued for a slow consumer. With so many there is no further listing until one was consumed. */
const mostAhead = 10;

/** Runs whether or not batches are consumed: an interruption is reported at once. */
export function watchPrefix(
  source: WatchSource,
  prefix: string,
  options: WatchOptions,
): AsyncIterableIterator<WatchBatch> {
  const over = new AbortController();
  const queue = new AsyncQueue<WatchBatch>(() => over.abort());
  const unsubscribe = [options.signal, source.closed].map((signal) => onAbort(signal, () => queue.end()));
  const own = { ...options, signal: over.signal };
  void pump(source, prefix, own, queue)
    .catch((error: unknown) => queue.fail(error))
    .finally(() => unsubscribe.forEach((each) => each()));
  return queue;
}

async function pump(
  source: WatchSource,
  prefix: string,
  options: WatchOptions,
  queue: AsyncQueue<WatchBatch>,
): Promise<void> {
  const { signal } = options;
  const attempts = createAttempts({ clock: source.clock, random: Math.random }, options);
  let seen: Seen | undefined;
  while (!signal.aborted) {
    try {
      const next = await listNext(source, prefix, seen, signal);
      const batch = seen === undefined ? await begin(source, prefix, next, options) : compare(seen, next);
      attempts.settled();
      seen = remember(next);
      if (batch !== undefined) queue.push(batch);
      await queue.untilShorter(mostAhead);
    } catch (error) {
      if (isOver(signal)) return;
      await attempts.failed(error, signal);
    }
  }
}

// A function of its own: the compiler believes that a signal which was not aborted stays so.
const isOver = (signal: AbortSignal): boolean => signal.aborted;

/** Waits for news when something was seen before, and reads everything. */
async function listNext(
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

/** The first listing. It is no news if nothing was written or deleted since `from`. */
async function begin(
  { http }: WatchSource,
  prefix: string,
  { items, revision }: Listing,
  { from, signal }: WatchOptions,
): Promise<WatchBatch | undefined> {
  // A revision that Consul does not have yet is of another life: a backup was restored.
  const hasSeen = from !== undefined && revision <= from && from <= (await readTop(http, prefix, signal));
  return hasSeen ? undefined : { type: 'snapshot', items, revision };
}

function compare(before: Seen, now: Listing): WatchBatch | undefined {
  const changes = findChanges(before, now);
  if (changes.length === 0) return undefined;
  // Backwards: a backup was restored. (Or the memory of the last deletion has run out; then nothing has changed.)
  if (now.revision < before.revision) return { type: 'snapshot', items: now.items, revision: now.revision };
  return { type: 'changes', changes, revision: now.revision };
}

/**
 * Deletions last: Consul does not say when they were. A key that was created anew since is not among them.
 */
function findChanges(before: Seen, { items, revision }: Listing): Change[] {
  const now = new Set(items.map(({ key }) => key));
  const gone = [...before.items.keys()].filter((key) => !now.has(key));
  const written = items.filter((item) => before.items.get(item.key)?.revision !== item.revision);
  return [
    ...written.toSorted((a, b) => a.revision - b.revision).map((item): Change => ({ type: 'put', item })),
    ...gone.map((key): Change => ({ type: 'delete', key, revision })),
  ];
}
