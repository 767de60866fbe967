/** Objects of one kind by their names, as an informer has them by their UIDs. */
import { isEqual } from '@podwire/objects';
import type { ReadObject } from './contract.js';

/** Ids of objects that have come, changed or gone, in what is read of them; undefined: any may have. */
export type ChangedIds = readonly string[] | undefined;

export class NamedCopy<T> {
  readonly #byUid = new Map<string, ReadObject<T>>();
  readonly #byId = new Map<string, ReadObject<T>>();
  /** By id: why it cannot be read. */
  readonly #problems = new Map<string, string>();

  get(id: string): ReadObject<T> | undefined {
    return this.#byId.get(id);
  }

  ids(): IterableIterator<string> {
    return this.#byId.keys();
  }

  list(): IterableIterator<ReadObject<T>> {
    return this.#byId.values();
  }

  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** Takes what the informer has. An object that is gone takes none away that has its name by now. */
  update(objects: ReadonlyMap<string, ReadObject<T>>, uid?: string): ChangedIds {
    if (uid !== undefined) return this.#replace(uid, objects.get(uid));
    for (const map of [this.#byUid, this.#byId, this.#problems]) map.clear();
    for (const [each, object] of objects) this.#replace(each, object);
    return undefined;
  }

  /** Most changes of a pod are of its status. */
  #replace(uid: string, after: ReadObject<T> | undefined): readonly string[] {
    const before = this.#byUid.get(uid);
    if (before !== undefined && isEqual(before, after)) return [];
    if (before !== undefined) this.#remove(uid, before);
    if (after !== undefined) this.#add(uid, after);
    return [...new Set([before, after].flatMap((object) => (object === undefined ? [] : [object.id])))];
  }

  #remove(uid: string, object: ReadObject<T>): void {
    this.#byUid.delete(uid);
    if (this.#byId.get(object.id) !== object) return;
    this.#byId.delete(object.id);
    this.#problems.delete(object.id);
  }

  #add(uid: string, object: ReadObject<T>): void {
    this.#byUid.set(uid, object);
    this.#byId.set(object.id, object);
    if (object.problem === undefined) this.#problems.delete(object.id);
    else this.#problems.set(object.id, object.problem);
  }
}
