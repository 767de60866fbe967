/**
 * Which other nodes hold a lease, by the store's word: `podwire peers` and `podwire status` tell of a dead node by it. Nothing in the
 * kernel follows a lease: the pods of a node that is cut off from the store may still work.
 */
import { folders, Informer, type Keys, nodeLeaseKind, ObjectCache } from '@podwire/cluster-state';
import { type Clock, type Log, pause } from '@podwire/platform';
import type { Store } from '@podwire/store';

export interface PeerLeasesOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly nodeName: string;
  /** The nodes that the store has told of. */
  readonly nodes: ReadonlyMap<string, unknown>;
  /** Resolves when `nodes` are all. */
  readonly nodesSynced: Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** These fields are part of the interface; see `status.ts`. */
export interface Reachability {
  /** True while the node holds its lease; `null` while the store is away, or has not answered yet. */
  readonly reachable: boolean | null;
  /** RFC 3339: when this agent saw that the lease was gone. */
  readonly unreachableSince: string | null;
}

const unknown: Reachability = { reachable: null, unreachableSince: null };
const ready: Reachability = { reachable: true, unreachableSince: null };

/** Milliseconds: nodes and leases are two watches, and a new node may be told of before its lease is. */
const grace = 2_000;

/** Watches from its construction until {@link PeerLeases.close}. */
export class PeerLeases {
  readonly #options: PeerLeasesOptions;
  readonly #cache;
  readonly #informer: Informer<'leases'>;
  /** By node without a lease: milliseconds since the epoch. */
  readonly #goneSince = new Map<string, number>();
  /** Known without a lease, for less than the grace. */
  readonly #awaited = new Set<string>();
  readonly #closed = new AbortController();
  #isSynced = false;

  constructor(options: PeerLeasesOptions) {
    const { store, keys, log, nodesSynced } = options;
    const prefix = `${keys.root}/${folders.nodeLeases}`;
    this.#options = options;
    this.#cache = new ObjectCache({ kind: nodeLeaseKind, nameOf: (_, key) => key.slice(prefix.length) });
    this.#informer = new Informer({
      store,
      prefix,
      folders: { leases: { prefix, cache: this.#cache } },
      log,
    });
    this.#informer.onChange(({ leases }) => this.#refresh(leases));
    Promise.all([this.#informer.synced, nodesSynced]).then(
      () => this.#takeSnapshot(),
      () => undefined,
    );
  }

  /** In memory. */
  reachabilityOf(name: string): Reachability {
    if (!this.#isSynced || !this.#informer.connected) return unknown;
    if (this.#cache.objects.has(name)) return ready;
    const since = this.#goneSince.get(name);
    if (since === undefined) return unknown;
    return { reachable: false, unreachableSince: new Date(since).toISOString() };
  }

  /** True while the store reports leases. */
  get areKnown(): boolean {
    return this.#isSynced && this.#informer.connected;
  }

  /** Nodes of these names have come, changed or gone. */
  noteNodes(names: Iterable<string>): void {
    for (const name of names) {
      if (!this.#options.nodes.has(name)) this.#goneSince.delete(name);
      else if (!this.#cache.objects.has(name) && !this.#goneSince.has(name)) void this.#awaitLease(name);
    }
  }

  close(): Promise<void> {
    this.#closed.abort();
    return this.#informer.close();
  }

  async #awaitLease(name: string): Promise<void> {
    if (this.#awaited.has(name)) return;
    this.#awaited.add(name);
    const { signal } = this.#closed;
    do await pause(this.#options.clock, grace, signal);
    while (!this.areKnown && !signal.aborted);
    this.#awaited.delete(name);
    if (!signal.aborted) this.#refresh([name]);
  }

  #takeSnapshot(): void {
    this.#isSynced = true;
    this.#refresh(this.#options.nodes.keys());
  }

  #refresh(names: Iterable<string>): void {
    if (!this.#isSynced) return;
    for (const name of names) {
      if (name === this.#options.nodeName) continue;
      if (this.#cache.objects.has(name)) this.#noteBack(name);
      else this.#noteGone(name);
    }
  }

  #noteGone(name: string): void {
    const { nodes, clock, log } = this.#options;
    if (!nodes.has(name) || this.#goneSince.has(name)) return;
    this.#goneSince.set(name, clock.now());
    log.warn(
      { peer: name },
      'a peer is unreachable: it holds no lease in the store; its pods may still work',
    );
  }

  #noteBack(name: string): void {
    const since = this.#goneSince.get(name);
    if (since === undefined) return;
    this.#goneSince.delete(name);
    const { clock, log } = this.#options;
    log.info({ peer: name, milliseconds: clock.now() - since }, 'a peer is back: it holds its lease again');
  }
}
