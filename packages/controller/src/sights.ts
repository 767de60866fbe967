/** Follows what the store says of nodes: objects, nodeLeases and unreachable. */
import {
  type UnreachableNode,
  unreachableKind,
  folders,
  type Keys,
  type Node,
  nodeKind,
  type NodeLease,
  nodeLeaseKind,
  type Stored,
} from '@podwire/cluster-state';
import type { Log } from '@podwire/platform';
import { decodeObject, type Item, type ObjectKind, type Store, type WatchBatch } from '@podwire/store';
import type { Sight } from './judge.js';

export interface Sights {
  /** Resolves with the first snapshots. */
  readonly synced: Promise<void>;
  /** Everything known of the node now. */
  of(node: string): Sight;
  /** Names about which something is new since the last call. */
  takeChanged(): Set<string>;
  /** Resolves at the next change, or at once when there is one that was not taken. */
  changed(): Promise<void>;
  /** Resolves when it has ended with its signal. @throws what a watch has ended with before */
  readonly ended: Promise<void>;
}

export interface SightsOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly log: Log;
}

export function followNodes({ store, keys, log }: SightsOptions, signal: AbortSignal): Sights {
  const changed = new Set<string>();
  let wake = (): void => undefined;
  const note = (names: Iterable<string>): void => {
    for (const name of names) changed.add(name);
    if (changed.size > 0) wake();
  };
  const follow = <T>(folder: keyof typeof folders, kind: ObjectKind<T>): Shelf<T> =>
    followFolder({ store, prefix: `${keys.root}/${folders[folder]}`, kind, log, note }, signal);
  const nodes = follow<Node>('nodes', nodeKind);
  const nodeLeases = follow<NodeLease>('nodeLeases', nodeLeaseKind);
  const unreachable = follow<UnreachableNode>('unreachable', unreachableKind);
  const all = [nodes, nodeLeases, unreachable];
  return {
    synced: Promise.all(all.map(({ synced }) => synced)).then(() => undefined),
    of: (name) => ({
      node: nodes.objects.get(name),
      presence: nodeLeases.objects.get(name),
      absence: unreachable.objects.get(name),
    }),
    takeChanged() {
      const taken = new Set(changed);
      changed.clear();
      return taken;
    },
    changed: () => (changed.size > 0 ? Promise.resolve() : new Promise<void>((resolve) => (wake = resolve))),
    ended: Promise.all(all.map(({ ended }) => ended)).then(() => undefined),
  };
}

interface Shelf<T> {
  /** By the node's name, which is the last part of the key. */
  readonly objects: ReadonlyMap<string, Stored<T>>;
  readonly synced: Promise<void>;
  readonly ended: Promise<void>;
}

interface FolderOptions<T> {
  readonly store: Store;
  readonly prefix: string;
  readonly kind: ObjectKind<T>;
  readonly log: Log;
  readonly note: (names: Iterable<string>) => void;
}

function followFolder<T>(options: FolderOptions<T>, signal: AbortSignal): Shelf<T> {
  const { store, prefix, log, note } = options;
  const objects = new Map<string, Stored<T>>();
  let sync = (): void => undefined;
  const seen = new Promise<void>((resolve) => (sync = resolve));
  async function run(): Promise<void> {
    const onInterruption = (err: unknown): void => log.warn({ err, prefix }, 'cut off from the store');
    try {
      for await (const batch of store.watch(prefix, { signal, onInterruption })) {
        note(takeBatch(objects, batch, options));
        sync();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  const ended = run();
  // A watch that ends before its first snapshot must not be waited for.
  return { objects, ended, synced: Promise.race([seen, ended]) };
}

/** @returns the names of what is new */
function takeBatch<T>(
  objects: Map<string, Stored<T>>,
  batch: WatchBatch,
  options: FolderOptions<T>,
): Set<string> {
  const names = new Set<string>();
  const nameOf = (key: string): string => key.slice(options.prefix.length);
  if (batch.type === 'snapshot') {
    for (const name of objects.keys()) names.add(name);
    objects.clear();
  }
  const items =
    batch.type === 'snapshot' ? batch.items.map((item) => ({ type: 'put' as const, item })) : batch.changes;
  for (const change of items) {
    const name = nameOf(change.type === 'put' ? change.item.key : change.key);
    names.add(name);
    if (change.type === 'delete') objects.delete(name);
    else takeItem(objects, name, change.item, options);
  }
  return names;
}

function takeItem<T>(
  objects: Map<string, Stored<T>>,
  name: string,
  { key, value, revision }: Item,
  { kind, log }: FolderOptions<T>,
): void {
  try {
    objects.set(name, { key, value: decodeObject(kind, key, value), revision });
  } catch (err) {
    // What is there and cannot be read is treated as it was known: a presence that is there is a presence.
    log.error({ err, key }, 'an object in the store cannot be read');
  }
}
