/** Watches: one stream each, made anew wherever it breaks, without a gap. */
import { AsyncQueue, compact, onAbort } from '@podwire/platform';
import { createAttempts } from '../attempts.js';
import type { Change, Item, Revision, WatchBatch, WatchOptions } from '../contract.js';
import { toChange, toGet } from './codec.js';
import { EtcdFailure, toPodwireError } from './failure.js';
import type { WatchResponse } from './generated/rpc.js';
import { follow } from './follow.js';
import { headerOf, readListing, readRange } from './reads.js';
import type { Session } from './session.js';

/** The position up to which every change was delivered. */
interface Position {
  readonly revision: Revision;
  /** Which cluster it is of; unknown when the caller began with a revision. */
  readonly cluster?: string;
  /** The last delivered change: it must still exist when the watch resumes. */
  readonly anchor?: Anchor;
}

interface Anchor {
  readonly key: string;
  /** Undefined: it was deleted. */
  readonly item: { readonly value: string; readonly revision: Revision } | undefined;
}

/** Batches read ahead of the consumer. etcd keeps the rest: its history is the longer queue. */
const mostAhead = 100;

/**
 * Ends with the signal or the store, and never otherwise: whatever breaks is tried again, also what is refused, since rights
 * may be given.
 */
export async function* watchPrefix(
  session: Session,
  prefix: string,
  options: WatchOptions,
): AsyncGenerator<WatchBatch, void, undefined> {
  const over = new AbortController();
  const queue = new AsyncQueue<WatchBatch>(() => over.abort());
  const end = (): void => queue.end();
  const unsubscribe = [options.signal, session.closing].map((signal) => onAbort(signal, end));
  // Reads also while no batch is consumed: a lost connection is reported when it happens.
  const reading = readAhead(watchUntil(session, prefix, options, over.signal), queue);
  try {
    yield* queue;
  } finally {
    end();
    for (const each of unsubscribe) each();
    await reading;
  }
}

async function readAhead(source: AsyncIterable<WatchBatch>, queue: AsyncQueue<WatchBatch>): Promise<void> {
  try {
    for await (const batch of source) {
      queue.push(batch);
      await queue.untilShorter(mostAhead);
    }
    queue.end();
  } catch (error) {
    queue.fail(error);
  }
}

async function* watchUntil(
  session: Session,
  prefix: string,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void, undefined> {
  const attempts = createAttempts(session, options);
  let position: Position | undefined = options.from === undefined ? undefined : { revision: options.from };
  while (!isOver(signal)) {
    try {
      if (position !== undefined && !(await isStillThere(session, prefix, position, signal)))
        position = undefined;
      if (position === undefined) {
        const { items, revision, cluster } = await readListing(session, prefix, signal);
        position = startAt(items, revision, cluster);
        attempts.recovered();
        yield { type: 'snapshot', items, revision };
      }
      for await (const response of follow(session, prefix, position.revision + 1, signal)) {
        if (response.created) attempts.settled();
        const batch = toBatch(response);
        position = advance(position, response, batch);
        if (batch !== undefined) yield batch;
      }
    } catch (error) {
      if (isOver(signal)) return;
      const isForgotten: boolean = error instanceof EtcdFailure && error.kind === 'compacted';
      if (isForgotten) position = undefined;
      else await attempts.failed(toError(error, prefix), signal);
    }
  }
}

// A function of its own: the compiler believes that a signal which was not aborted stays so.
const isOver = (signal: AbortSignal): boolean => signal.aborted;

const toError = (error: unknown, prefix: string): unknown =>
  error instanceof EtcdFailure ? toPodwireError(error, `the watch of ${prefix}`, false) : error;

function toBatch({ events }: WatchResponse): (WatchBatch & { readonly type: 'changes' }) | undefined {
  const last = events.at(-1)?.kv;
  if (last === undefined) return undefined;
  // Not the header's: while a watch catches up, that one is ahead of the events.
  return { type: 'changes', changes: events.map(toChange), revision: last.modRevision };
}

function startAt(items: readonly Item[], revision: Revision, cluster: string): Position {
  let newest: Item | undefined;
  for (const item of items) if (item.revision > (newest?.revision ?? 0)) newest = item;
  const anchor = newest === undefined ? undefined : { key: newest.key, item: newest };
  return { revision, cluster, ...compact({ anchor }) };
}

/** An answer without events has the member's revision: nothing under the prefix has changed up to it. */
function advance(
  position: Position,
  { header, created }: WatchResponse,
  batch: { readonly changes: readonly Change[]; readonly revision: Revision } | undefined,
): Position {
  const cluster = position.cluster ?? header?.clusterId;
  const known = { ...position, ...compact({ cluster }) };
  const last = batch?.changes.at(-1);
  if (batch !== undefined && last !== undefined)
    return { ...known, revision: batch.revision, anchor: anchorAt(last) };
  return created ? known : { ...known, revision: Math.max(position.revision, header?.revision ?? 0) };
}

const anchorAt = (change: Change): Anchor =>
  change.type === 'put' ? { key: change.item.key, item: change.item } : { key: change.key, item: undefined };

/**
 * True if the store's history still contains the delivered changes. A server whose data were restored from a backup is at an earlier
 * revision, or at a later one with another past; etcd itself would keep silent until it is beyond ours. This is asked of a majority:
 * a member that lags behind gives the same answer.
 */
async function isStillThere(
  session: Session,
  prefix: string,
  { revision, cluster, anchor }: Position,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    // Without an anchor: any key that may be read with the permission to watch the prefix.
    const key = anchor?.key ?? (prefix === '' ? '\0' : prefix);
    const response = await readRange(session, toGet(key, revision), signal);
    if (cluster !== undefined && headerOf(response).clusterId !== cluster) return false;
    if (anchor === undefined) return true;
    const [found] = response.kvs;
    return (
      found?.modRevision === anchor.item?.revision && found?.value.toString('utf8') === anchor.item?.value
    );
  } catch (error) {
    if (error instanceof EtcdFailure && (error.kind === 'future' || error.kind === 'compacted')) return false;
    throw error;
  }
}
