/** Finds the owners that a hint leads to. Kept up as owners come and go; a hint costs a look into a table. */
import type { Hint, Owned, OwnerId, Place, Resource } from './contract.js';
import type { KindRegistry } from './registry.js';

/** Where a hint leads. */
export interface Lead {
  /** To be looked at. */
  readonly owners: ReadonlySet<OwnerId>;
  /** Something with our mark has come that no owner wants. */
  readonly leftover: boolean;
}

interface Entry {
  readonly owned: Owned;
  readonly keys: ReadonlySet<string>;
  readonly places: ReadonlySet<Place>;
}

const noOwners: ReadonlySet<OwnerId> = new Set();

export class TouchIndex {
  readonly #kinds: KindRegistry;
  readonly #entries = new Map<OwnerId, Entry>();
  readonly #byKey = new Map<string, Set<OwnerId>>();
  readonly #byPlace = new Map<Place, Set<OwnerId>>();

  constructor(kinds: KindRegistry) {
    this.#kinds = kinds;
  }

  get(owner: OwnerId): Owned | undefined {
    return this.#entries.get(owner)?.owned;
  }

  /** The owner has these resources from now on, and no others. Costs nothing when it has the same already. */
  put(owned: Owned): void {
    const { owner, resources } = owned;
    const before = this.#entries.get(owner);
    if (before !== undefined && isSame(before.owned.resources, resources)) return;
    this.drop(owner);
    const places = new Set(resources.map((resource) => this.#kinds.of(resource).place(resource)));
    const keys = new Set(resources.flatMap((resource) => this.#touches(resource)));
    this.#entries.set(owner, { owned, keys, places });
    for (const key of keys) add(this.#byKey, key, owner);
    for (const place of places) add(this.#byPlace, place, owner);
  }

  drop(owner: OwnerId): void {
    const entry = this.#entries.get(owner);
    if (entry === undefined) return;
    this.#entries.delete(owner);
    for (const key of entry.keys) remove(this.#byKey, key, owner);
    for (const place of entry.places) remove(this.#byPlace, place, owner);
  }

  /** @param place of the feed that the hint comes from */
  find(hint: Hint, place: Place): Lead {
    const isMarked = hint.marked === true;
    if (hint.lost === true) return { owners: this.#byPlace.get(place) ?? noOwners, leftover: isMarked };
    const owners = this.#ownersOf(hint.keys);
    const leftover = isMarked && !this.#byKey.has(hint.keys[0] ?? '');
    const isLeft = hint.now !== undefined && this.#isAsWanted(owners, hint.keys, hint.now);
    return { owners: isLeft ? noOwners : owners, leftover };
  }

  #ownersOf(keys: readonly string[]): ReadonlySet<OwnerId> {
    const found = keys.flatMap((key) => this.#byKey.get(key) ?? []);
    return found.length === 1 ? found[0]! : new Set(found.flatMap((owners) => [...owners]));
  }

  /** Also where no resource is about what is shown: a route says nothing of its link's MTU. */
  #isAsWanted(owners: ReadonlySet<OwnerId>, keys: readonly string[], now: object): boolean {
    for (const owner of owners)
      for (const resource of this.#entries.get(owner)!.owned.resources)
        if (this.#differs(resource, keys, now)) return false;
    return true;
  }

  #differs(resource: Resource, keys: readonly string[], now: object): boolean {
    const kind = this.#kinds.of(resource);
    if (kind.shownBy === undefined || !this.#touches(resource).some((key) => keys.includes(key)))
      return false;
    const found = kind.shownBy(resource, now);
    return found !== undefined && kind.compare(resource, found) !== undefined;
  }

  #touches(resource: Resource): readonly string[] {
    const kind = this.#kinds.of(resource);
    return kind.touches?.(resource) ?? [kind.key(resource)];
  }
}

const isSame = (a: readonly Resource[], b: readonly Resource[]): boolean =>
  a === b || (a.length === b.length && a.every((resource, index) => resource === b[index]));

function add<K>(index: Map<K, Set<OwnerId>>, key: K, owner: OwnerId): void {
  const owners = index.get(key);
  if (owners === undefined) index.set(key, new Set([owner]));
  else owners.add(owner);
}

function remove<K>(index: Map<K, Set<OwnerId>>, key: K, owner: OwnerId): void {
  const owners = index.get(key);
  owners?.delete(owner);
  if (owners?.size === 0) index.delete(key);
}
