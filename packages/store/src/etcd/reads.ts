/** Reading: always what a majority has agreed on, never what one member believes. */
import type { Item, Listing } from '../contract.js';
import { toGet, toItem, toPage } from './codec.js';
import { EtcdFailure } from './failure.js';
import type { RangeRequest, RangeResponse } from './generated/rpc.js';
import { range } from './methods.js';
import type { Session } from './session.js';
import { unavailable } from '../failures.js';

export async function readItem(
  session: Session,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Item | undefined> {
  const { kvs } = await readRange(session, toGet(key), signal);
  return kvs[0] === undefined ? undefined : toItem(kvs[0]);
}

/** The header of a listing. */
export interface EtcdListing extends Listing {
  /** Which cluster it is of. */
  readonly cluster: string;
}

/** How often a list is begun anew because history was forgotten meanwhile. */
const mostBeginnings = 5;

/** All pages as of the first one's revision. */
export async function readListing(
  session: Session,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<EtcdListing> {
  for (let beginnings = 1; ; beginnings++) {
    try {
      return await readPages(session, prefix, signal);
    } catch (error) {
      if (!(error instanceof EtcdFailure && error.kind === 'compacted')) throw error;
      if (beginnings === mostBeginnings)
        throw unavailable('etcd forgets history faster than it can be listed', { cause: error });
    }
  }
}

const firstPage = 1_000;
const largestPage = 20_000;
/** Each page costs etcd a walk over the whole index, each answer memory on both sides. */
const pageBytes = 4 * 1024 * 1024;

async function readPages(
  session: Session,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<EtcdListing> {
  const items: Item[] = [];
  let page = await readRange(session, toPage(prefix, { limit: firstPage }), signal);
  const { revision, clusterId: cluster } = headerOf(page);
  for (let bytes = 0; ;) {
    for (const each of page.kvs) {
      items.push(toItem(each));
      bytes += each.key.length + each.value.length;
    }
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { items, revision, cluster };
    const limit = Math.max(1, Math.min(largestPage, Math.floor((pageBytes * items.length) / bytes)));
    // The first key after this one.
    const key = Buffer.concat([last.key, Buffer.from([0])]);
    page = await readRange(session, toPage(prefix, { key, limit, revision }), signal);
  }
}

export async function readRange(
  session: Session,
  request: RangeRequest,
  signal: AbortSignal | undefined,
): Promise<RangeResponse> {
  return (await session.call({ method: range, request, repetition: 'read', signal })).response;
}

export function headerOf({ header }: RangeResponse): NonNullable<RangeResponse['header']> {
  if (header === undefined) throw unavailable('etcd answered without a header');
  return header;
}
