/**
 * Facts that models read of the store's objects: a VNID, a subnet. They are kept in a file as well, so that an agent that starts while
 * the store is away goes on with them. An object that becomes unreadable stays as it was.
 */
import { describeError } from '@podwire/errors';
import type { ObjectFacts } from '@podwire/network-contract';
import {
  decodeStoredObject,
  formatObjectProblem,
  objectGroupPrefix,
  objectKey,
  type StoredObject,
} from '@podwire/objects';
import type { FactName, FactSources, Journal } from '@podwire/planner';
import { type Clock, groupBy, type Log, Notify, pause } from '@podwire/platform';
import type { Change, Item, Revision, Store, WatchBatch } from '@podwire/store';

export interface ObjectFactsOptions {
  /** Of all models of the node's networks. */
  readonly kinds: readonly ObjectFacts[];
  readonly nodeName: string;
  readonly store: Pick<Store, 'watch'>;
  /** Prefix of all keys of the store. */
  readonly root: string;
  readonly journal: Journal<SavedFact>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Log;
}

/** A line of the journal. */
export interface SavedFact {
  readonly name: string;
  readonly value: unknown;
}

/** Milliseconds until a watch is opened again that the store has refused. */
const watchAgainAfter = 30_000;

export class ObjectFactStore {
  readonly #options: ObjectFactsOptions;
  readonly #facts: Map<string, unknown>;
  /** Kinds whose objects the store has listed. */
  readonly #listed = new Set<string>();
  readonly #unreadable = new Map<string, string>();
  #revision = 0;
  readonly #listeners = new Set<(names: readonly FactName[]) => void>();

  constructor(options: ObjectFactsOptions) {
    this.#options = options;
    const { found } = options.journal;
    this.#facts = new Map([...found].map(([name, { value }]) => [name, value]));
  }

  /** For the planner. */
  get sources(): FactSources {
    const source = (fact: string) => (id: string) => this.#facts.get(`${fact}/${id}`);
    const { kinds } = this.#options;
    const sets = kinds.flatMap((kind) =>
      kind.names === undefined ? [] : [[kind.names, () => this.#listNames(kind)] as const],
    );
    return Object.fromEntries([...kinds.map(({ fact }) => [fact, source(fact)] as const), ...sets]);
  }

  #listNames(kind: ObjectFacts): ReadonlySet<string> {
    const prefix = nameOf(kind, '');
    const names = [...this.#facts.keys()].filter((name) => name.startsWith(prefix));
    return new Set(names.map((name) => name.slice(prefix.length)));
  }

  /** False as long as there may be objects that neither the store nor an earlier life of the node has told of. */
  get areKnown(): boolean {
    const { kinds, journal } = this.#options;
    return journal.isComplete || kinds.every(({ fact }) => this.#listed.has(fact));
  }

  /** Of the store, up to which the objects are followed. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Objects that cannot be read, in words that begin with a code. */
  get problems(): readonly string[] {
    return [...this.#unreadable.values()];
  }

  /** Calls with the names of facts that have changed. @returns how to unsubscribe */
  onChange(listener: (names: readonly FactName[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Looks at once, and again after each change. @throws the signal's reason */
  async until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    const changed = new Notify();
    const unsubscribe = this.onChange(changed.notify);
    try {
      while (!isSo()) await changed.notified(signal);
    } finally {
      unsubscribe();
    }
  }

  /**
   * Follows the objects until the signal aborts, all of an API group in one watch: it has one order, so that the revision holds for
   * each kind. Never rejects.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const { kinds, root } = this.#options;
    const groups = groupBy(kinds, (kind) => objectGroupPrefix(root, kind));
    await Promise.all([...groups].map(([prefix, kinds]) => this.#followGroup(prefix, kinds, signal)));
  }

  async #followGroup(prefix: string, kinds: readonly ObjectFacts[], signal: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        // Interruptions are told by the cluster's own watches; these recover as those do.
        for await (const batch of store.watch(prefix, { signal })) this.#take(kinds, batch);
      } catch (err) {
        if (signal.aborted) return;
        log.error({ err, prefix }, 'objects cannot be watched; it is tried again');
      }
      await pause(clock, watchAgainAfter, signal);
    }
  }

  #prefixOf(kind: ObjectFacts): string {
    return objectKey(this.#options.root, { ...kind, name: '' });
  }

  #take(kinds: readonly ObjectFacts[], batch: WatchBatch): void {
    this.#revision = Math.max(this.#revision, batch.revision);
    this.#note(kinds.flatMap((kind) => this.#readBatch(kind, this.#prefixOf(kind), batch)));
  }

  #readBatch(kind: ObjectFacts, prefix: string, batch: WatchBatch): SavedFact[] {
    if (batch.type === 'snapshot') {
      this.#listed.add(kind.fact);
      return this.#compare(
        kind,
        prefix,
        batch.items.filter(({ key }) => key.startsWith(prefix)),
      );
    }
    const keyOf = (change: Change): string => (change.type === 'put' ? change.item.key : change.key);
    return batch.changes
      .filter((change) => keyOf(change).startsWith(prefix))
      .flatMap((change) =>
        change.type === 'put'
          ? this.#read(kind, prefix, change.item)
          : [this.#forget(kind, change.key.slice(prefix.length))],
      );
  }

  /** All that a snapshot has, and what has gone since. */
  #compare(kind: ObjectFacts, prefix: string, items: readonly Item[]): SavedFact[] {
    const present = new Set(items.map(({ key }) => nameOf(kind, key.slice(prefix.length))));
    const gone = [...this.#facts.keys()].filter(
      (name) => name.startsWith(nameOf(kind, '')) && !present.has(name as FactName),
    );
    return [
      ...gone.map((name) => this.#forget(kind, name.slice(nameOf(kind, '').length))),
      ...items.flatMap((item) => this.#read(kind, prefix, item)),
    ];
  }

  #read(kind: ObjectFacts, prefix: string, item: Item): SavedFact[] {
    const name = nameOf(kind, item.key.slice(prefix.length));
    const { stored, unreadable } = decodeStoredObject(this.#options.root, item);
    if (stored === undefined) {
      const words = unreadable?.problems.map(formatObjectProblem).join('; ') ?? 'it cannot be read';
      this.#unreadable.set(name, `OBJECT_INVALID: ${item.key}: ${words}; what it said before counts`);
      return [];
    }
    this.#unreadable.delete(name);
    return [{ name, value: readFact(kind, stored, this.#options.nodeName) }];
  }

  /** Reports if the set of names has one more or less. */
  #isMemberOf(kind: ObjectFacts, { name, value }: SavedFact): boolean {
    const isOfKind = kind.names !== undefined && name.startsWith(nameOf(kind, ''));
    return isOfKind && this.#facts.has(name) !== (value !== undefined);
  }

  #forget(kind: ObjectFacts, id: string): SavedFact {
    const name = nameOf(kind, id);
    this.#unreadable.delete(name);
    return { name, value: undefined };
  }

  #note(changes: readonly SavedFact[]): void {
    const { journal, log } = this.#options;
    const news = changes.filter(({ name, value }) => !isSame(this.#facts.get(name), value));
    const sets = this.#options.kinds.filter((kind) => news.some((fact) => this.#isMemberOf(kind, fact)));
    // Written down first: what is in the system is known to the next life.
    journal.note(news.map((fact) => [fact.name, fact.value === undefined ? undefined : fact]));
    for (const { name, value } of news)
      if (value === undefined) this.#facts.delete(name);
      else this.#facts.set(name, value);
    const names = [...news, ...sets.map(({ names: name }) => ({ name }))].map(({ name }) => name as FactName);
    // A snapshot without news is news as well: what is not there now, is not there.
    for (const listener of [...this.#listeners])
      try {
        listener(names);
      } catch (error) {
        log.error({ err: describeError(error) }, 'a change of objects could not be followed');
      }
  }
}

const nameOf = ({ fact }: ObjectFacts, id: string): FactName => `${fact}/${id}` as FactName;

/** The schema of its kind has read the object, so that it is of the kind's type. */
const readFact = (
  { read, isOfNode }: ObjectFacts,
  { object, created = 0 }: StoredObject,
  nodeName: string,
): unknown => (isOfNode?.(object as never, nodeName) === false ? undefined : read(object as never, created));

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
