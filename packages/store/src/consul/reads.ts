/** Reading: single items, whole prefixes, and how far the index of a prefix is. */
import type { Item, Listing } from '../contract.js';
import { readItems } from './entries.js';
import type { ConsulHttp } from './http.js';
import { toConsulKey, toConsulPrefix } from './keys.js';

export async function readItem(
  http: ConsulHttp,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Item | undefined> {
  const path = `/v1/kv/${toConsulKey(key)}?consistent`;
  const reply = await http.send({ method: 'GET', path, repeatable: true, signal });
  return reply.status === 404 ? undefined : readItems(reply.text)[0];
}

/** Milliseconds: all blocks of a large cluster are some megabytes. */
const listDeadline = 20_000;

/**
 * Everything below a prefix. The revision is the greatest index below it, of deletions too while Consul remembers them
 * (15 minutes); for an empty prefix, that of the whole KV store.
 */
export async function readListing(
  http: ConsulHttp,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const path = `/v1/kv/${toConsulPrefix(prefix)}?recurse&consistent`;
  const reply = await http.send({
    method: 'GET',
    path,
    repeatable: true,
    signal,
    deadline: listDeadline,
  });
  const items = reply.status === 404 ? [] : readItems(reply.text);
  return {
    items: items.filter(({ key }) => key.startsWith(prefix)),
    revision: atLeastOne(reply.index),
  };
}

/** Index 0 would not block: "blocking queries", Consul's documentation, asks clients to see to that. */
const atLeastOne = (index: number | undefined): number => Math.max(index ?? 0, 1);

/** The index at which a key was deleted, or a greater one. */
export async function readIndex(
  http: ConsulHttp,
  key: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const path = `/v1/kv/${toConsulKey(key)}?keys&consistent`;
  const reply = await http.send({ method: 'GET', path, repeatable: true, signal });
  return atLeastOne(reply.index);
}

/** Seconds that Consul holds a request for which there is no news; it adds up to a sixteenth. */
const wait = 20;
const waitDeadline = (wait * 17 * 1_000) / 16 + 5_000;

/**
 * Returns when there may be news below the prefix after this index, and the index then. It asks for the names of the topmost
 * folders alone: an answer without news is as long as one with news, and most are.
 */
export async function awaitNews(
  http: ConsulHttp,
  prefix: string,
  after: number,
  signal: AbortSignal,
): Promise<number> {
  const path = `/v1/kv/${toConsulPrefix(prefix)}?keys&separator=/&index=${after}&wait=${wait}s`;
  const reply = await http.send({
    method: 'GET',
    path,
    repeatable: true,
    signal,
    deadline: waitDeadline,
  });
  return atLeastOne(reply.index);
}

/** The index of the whole KV store, which Consul returns for a missing key. */
export async function readTop(http: ConsulHttp, prefix: string, signal: AbortSignal): Promise<number> {
  // No key of ours has a NUL.
  const path = `/v1/kv/${toConsulPrefix(prefix)}_00?consistent`;
  const reply = await http.send({ method: 'GET', path, repeatable: true, signal });
  return atLeastOne(reply.index);
}
