/** Follows node objects, node leases and the records of unreachable nodes in the store. */
import {
  folders,
  Informer,
  type Keys,
  type Node,
  nodeKind,
  type NodeLease,
  nodeLeaseKind,
  ObjectCache,
  type UnreachableNode,
  unreachableKind,
} from '@podwire/cluster-state';
import type { Log } from '@podwire/platform';
import type { ObjectKind, Store } from '@podwire/store';
import type { NodeObservation } from './evaluate-node.js';

export interface NodeWatcherOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly log: Log;
}

export class NodeWatcher {
  readonly #nodes: FolderCache<Node>;
  readonly #leases: FolderCache<NodeLease>;
  readonly #unreachable: FolderCache<UnreachableNode>;
  readonly #changed = new Set<string>();
  #wake = (): void => undefined;

  constructor(options: NodeWatcherOptions) {
    const onChange = (names: ReadonlySet<string>): void => this.#noteChanged(names);
    this.#nodes = followFolder(options, 'nodes', nodeKind, onChange);
    this.#leases = followFolder(options, 'nodeLeases', nodeLeaseKind, onChange);
    this.#unreachable = followFolder(options, 'unreachable', unreachableKind, onChange);
  }

  get #informers(): readonly Informer<'objects'>[] {
    return [this.#nodes.informer, this.#leases.informer, this.#unreachable.informer];
  }

  /** Resolves with the first snapshots. @throws the error that ended a watch before */
  async synced(): Promise<void> {
    await Promise.all(this.#informers.map(({ synced }) => synced));
  }

  /** Resolves after {@link close}. @throws the error that ended a watch for good */
  async ended(): Promise<void> {
    await Promise.all(this.#informers.map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.close()));
  }

  observe(name: string): NodeObservation {
    return {
      node: this.#nodes.cache.objects.get(name),
      lease: this.#leases.cache.objects.get(name),
      unreachable: this.#unreachable.cache.objects.get(name),
    };
  }

  /** Names of the nodes that changed since the last call. */
  takeChanged(): Set<string> {
    const taken = new Set(this.#changed);
    this.#changed.clear();
    return taken;
  }

  /** Resolves at the next change, at once when there is one that was not taken. */
  changed(): Promise<void> {
    if (this.#changed.size > 0) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #noteChanged(names: ReadonlySet<string>): void {
    for (const name of names) this.#changed.add(name);
    if (this.#changed.size > 0) this.#wake();
  }
}

interface FolderCache<T> {
  readonly cache: ObjectCache<T>;
  readonly informer: Informer<'objects'>;
}

function followFolder<T>(
  { store, keys, log }: NodeWatcherOptions,
  folder: keyof typeof folders,
  kind: ObjectKind<T>,
  onChange: (names: ReadonlySet<string>) => void,
): FolderCache<T> {
  const prefix = `${keys.root}/${folders[folder]}`;
  const cache = new ObjectCache({ kind, nameOf: (_, key) => key.slice(prefix.length) });
  const informer = new Informer({ store, prefix, folders: { objects: { prefix, cache } }, log });
  informer.onChange(({ objects }) => onChange(objects));
  return { cache, informer };
}
