import { containsPrefix, parseAddress, hostPrefix, parsePrefix, type Prefix } from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import { type Log, waitUntil } from '@podwire/platform';
import type { Item, Revision, Store, WatchBatch } from '@podwire/store';
import { createBlockIndex } from './block-index.js';
import type { ClusterCache, CacheChange, Stored } from './cache.js';
import { folders, type Keys } from './keys.js';
import { blockKind, borrowRequestKind, nodeKind, type Pool, poolKind, workloadKind } from './kinds.js';
import { createShelf, type Shelf } from './shelf.js';

export interface ClusterCacheOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly log: Log;
}

type Topic = keyof CacheChange;
type MutableChange = { readonly [topic in Topic]: Set<string> };

const emptyChange = (): MutableChange => ({
  pools: new Set(),
  blocks: new Set(),
  nodes: new Set(),
  workloads: new Set(),
  borrowRequests: new Set(),
});

/** Follows the shared part of the store until it is closed. Never throws afterwards: what cannot be read is in `unreadable`. */
export function openClusterCache({ store, keys, log }: ClusterCacheOptions): ClusterCache {
  const index = createBlockIndex();
  const pools = createShelf({
    kind: poolKind,
    nameOf: (pool) => pool.name,
    keyOf: (pool) => keys.pool(pool.name),
  });
  const blocks = createShelf({
    kind: blockKind,
    nameOf: (block) => block.cidr,
    keyOf: (block) => keys.block(block.cidr),
    onChange: (before, after) => index.change(before, after),
  });
  const nodes = createShelf({
    kind: nodeKind,
    nameOf: (node) => node.name,
    keyOf: (node) => keys.node(node.name),
  });
  const workloads = createShelf({ kind: workloadKind, nameOf: (_, key) => key });
  const borrowRequests = createShelf({ kind: borrowRequestKind, nameOf: (_, key) => key });
  const shelves: Readonly<Record<Topic, Shelf<unknown>>> = {
    pools,
    blocks,
    nodes,
    workloads,
    borrowRequests,
  };

  const shared = `${keys.root}/shared/`;
  const unreadable = new Map<string, string>();
  const listeners = new Set<(change: CacheChange) => void>();
  const closed = new AbortController();
  let resolveSynced = (): void => undefined;
  let rejectSynced = (_reason: unknown): void => undefined;
  const synced = new Promise<void>((resolve, reject) => {
    resolveSynced = resolve;
    rejectSynced = reject;
  });
  // Whoever does not ask need not hear of it.
  synced.catch(() => undefined);
  let revision: Revision = -1;
  let connected = false;
  let poolPrefixes: readonly (readonly [Prefix, string])[] = [];

  const homes = (Object.keys(shelves) as Topic[]).map(
    (topic) => [`${keys.root}/${folders[topic]}`, topic] as const,
  );
  const topicOf = (key: string): Topic | undefined => homes.find(([folder]) => key.startsWith(folder))?.[1];

  function takeItem(item: Item, change: MutableChange): void {
    const topic = topicOf(item.key);
    if (topic === undefined) return;
    try {
      const name = shelves[topic].take(item);
      if (name !== undefined) change[topic].add(name);
      unreadable.delete(item.key);
    } catch (error) {
      unreadable.set(item.key, describeError(error));
      log.error(
        { key: item.key, err: error },
        'an object in the store cannot be read; what was known of it stays',
      );
    }
  }

  function dropKey(key: string, at: Revision, change: MutableChange): void {
    const topic = topicOf(key);
    unreadable.delete(key);
    const name = topic === undefined ? undefined : shelves[topic].drop(key, at);
    if (name !== undefined) change[topic!].add(name);
  }

  function takeSnapshot(items: readonly Item[], at: Revision, change: MutableChange): void {
    // A store restored from a backup counts from an earlier number; what it says is the truth all the same.
    if (at < revision) for (const shelf of Object.values(shelves)) shelf.distrust();
    const present = new Set(items.map((item) => item.key));
    for (const key of unreadable.keys()) if (!present.has(key)) unreadable.delete(key);
    for (const topic of Object.keys(shelves) as Topic[]) {
      for (const name of shelves[topic].retain(present, at)) change[topic].add(name);
    }
    for (const item of items) takeItem(item, change);
  }

  function takeBatch(batch: WatchBatch): void {
    const change = emptyChange();
    if (batch.type === 'snapshot') takeSnapshot(batch.items, batch.revision, change);
    else {
      for (const one of batch.changes) {
        if (one.type === 'put') takeItem(one.item, change);
        else dropKey(one.key, one.revision, change);
      }
    }
    for (const shelf of Object.values(shelves)) shelf.settle(batch.revision);
    revision = batch.revision;
    connected = true;
    resolveSynced();
    announce(change);
  }

  function announce(change: MutableChange): void {
    if (change.pools.size > 0) poolPrefixes = sortPools(pools.objects);
    for (const listener of [...listeners]) {
      try {
        listener(change);
      } catch (err) {
        log.error({ err }, 'a listener to the cache of the cluster failed');
      }
    }
  }

  function onChange(listener: (change: CacheChange) => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  const setConnected = (value: boolean): void => {
    if (connected === value || closed.signal.aborted) return;
    connected = value;
    announce(emptyChange());
  };

  async function follow(): Promise<void> {
    const watch = store.watch(shared, {
      signal: closed.signal,
      onInterruption: (err) => {
        log.warn({ err }, 'cut off from the store; what is known of the cluster stays');
        setConnected(false);
      },
      onRecovery: () => setConnected(true),
    });
    for await (const batch of watch) takeBatch(batch);
  }

  const following = follow().catch((err: unknown) => {
    if (closed.signal.aborted) return;
    log.error({ err }, 'the watch of the cluster has ended');
    connected = false;
    rejectSynced(err);
  });
  return {
    pools: pools.objects,
    blocks: blocks.objects,
    nodes: nodes.objects,
    workloads: workloads.objects,
    borrowRequests: borrowRequests.objects,
    unreadable,
    blocksOf: (node) => index.blocksOf(node),
    borrowedBy: (node) => index.borrowedBy(node),
    poolAround(cidr) {
      const wanted = cidr.includes('/') ? parsePrefix(cidr) : hostPrefix(parseAddress(cidr));
      const found = poolPrefixes.find(([prefix]) => containsPrefix(prefix, wanted));
      return found === undefined ? undefined : pools.objects.get(found[1]);
    },
    synced,
    get connected() {
      return connected;
    },
    note(key, value, at) {
      // The watch has told it already, and what became of it since.
      if (at <= revision) return;
      const topic = topicOf(key);
      const name = topic === undefined ? undefined : shelves[topic].put(key, value, at);
      if (name === undefined) return;
      const change = emptyChange();
      change[topic!].add(name);
      announce(change);
    },
    noteGone(key, at) {
      const change = emptyChange();
      dropKey(key, at, change);
      announce(change);
    },
    onChange,
    reached: (wanted, signal) => waitUntil(() => revision >= wanted, onChange, signal),
    async close() {
      closed.abort(new DOMException('closed', 'AbortError'));
      rejectSynced(closed.signal.reason);
      await following;
    },
  };
}

/** The most particular first: a pool may lie in no other, but two may meet for a moment while one is split. */
function sortPools(pools: ReadonlyMap<string, Stored<Pool>>): (readonly [Prefix, string])[] {
  return [...pools.values()]
    .map(({ value }) => [parsePrefix(value.cidr), value.name] as const)
    .sort(([a], [b]) => b.length - a.length);
}
