/** Objects of one kind as the cache keeps them: by name, with the revision of what is known. */
import { PodwireError } from '@podwire/errors';
import { decodeObject, type Item, type ObjectKind, type Revision } from '@podwire/store';
import type { Stored } from './cache.js';

export interface Shelf<T> {
  readonly objects: ReadonlyMap<string, Stored<T>>;
  /** Takes in what the store has. Older news than what is known are ignored. @throws PodwireError OBJECT_INVALID, OBJECT_TOO_NEW */
  take(item: Item): string | undefined;
  /** As {@link take}, with the object itself. */
  put(key: string, value: T, revision: Revision): string | undefined;
  /** Returns the name of what went. */
  drop(key: string, revision: Revision): string | undefined;
  /** Takes away everything that is not among the keys and not newer. Returns the names. */
  retain(keys: ReadonlySet<string>, revision: Revision): string[];
  /** Everything up to this revision was told: deletions up to there need not be remembered. */
  settle(revision: Revision): void;
  /** Forgets revisions, not objects: the store has gone back in time, and whatever it says now counts. */
  distrust(): void;
}

export interface ShelfOptions<T> {
  readonly kind: ObjectKind<T>;
  readonly nameOf: (value: T, key: string) => string;
  /** Where the object belongs; one that lies elsewhere is refused. Absent: anywhere in its folder. */
  readonly keyOf?: (value: T) => string;
  readonly onChange?: (before: T | undefined, after: T | undefined) => void;
}

export function createShelf<T>({ kind, nameOf, keyOf, onChange }: ShelfOptions<T>): Shelf<T> {
  const objects = new Map<string, Stored<T>>();
  const names = new Map<string, string>();
  /** Deletions at or after what the watch has told: older news must not bring the object back. */
  const gone = new Map<string, Revision>();

  const knownRevision = (key: string): Revision =>
    Math.max(objects.get(names.get(key) ?? '')?.revision ?? -1, gone.get(key) ?? -1);

  function put(key: string, value: T, revision: Revision): string | undefined {
    if (revision <= knownRevision(key)) return undefined;
    const name = nameOf(value, key);
    onChange?.(objects.get(name)?.value, value);
    objects.set(name, { key, value, revision });
    names.set(key, name);
    gone.delete(key);
    return name;
  }

  function forget(key: string): string | undefined {
    const name = names.get(key);
    if (name === undefined) return undefined;
    onChange?.(objects.get(name)?.value, undefined);
    objects.delete(name);
    names.delete(key);
    return name;
  }

  return {
    objects,
    put,
    take(item) {
      if (item.revision <= knownRevision(item.key)) return undefined;
      const value = decodeObject(kind, item.key, item.value);
      const home = keyOf?.(value) ?? item.key;
      if (home !== item.key) {
        throw new PodwireError('OBJECT_INVALID', `${item.key}: this object belongs to ${home}`);
      }
      return put(item.key, value, item.revision);
    },
    drop(key, revision) {
      if (revision < knownRevision(key)) return undefined;
      gone.set(key, revision);
      return forget(key);
    },
    retain(keys, revision) {
      const surplus = [...names.keys()].filter((key) => !keys.has(key) && knownRevision(key) <= revision);
      return surplus.map((key) => forget(key)!);
    },
    settle(revision) {
      for (const [key, at] of gone) if (at <= revision) gone.delete(key);
    },
    distrust() {
      gone.clear();
      for (const [name, stored] of objects) objects.set(name, { ...stored, revision: -1 });
    },
  };
}
