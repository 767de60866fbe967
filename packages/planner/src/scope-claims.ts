/** The claims of one scope: those of its list, and those of each member of the collections that it has joined. */
import type { Claimant } from './claims.js';
import type { Collection, Planned, Scope } from './contract.js';
import type { Keys } from './keys.js';

/** The resources of each member, by its name. */
export type MemberList<R> = ReadonlyMap<string, readonly R[]>;

interface Joined<R> extends Collection<R> {
  readonly members: Map<string, Claimant>;
}

export class ScopeClaims<R> {
  readonly #keys: Keys<R>;
  readonly #scope: Scope;
  #own: Claimant;
  #joined: readonly Joined<R>[] = [];

  constructor(keys: Keys<R>, scope: Scope) {
    this.#keys = keys;
    this.#scope = scope;
    this.#own = this.#createClaimant('', 0);
  }

  get collections(): readonly Collection<R>[] {
    return this.#joined;
  }

  /** @param lists one for each of its collections */
  set({ resources = [], collections = [], priority = 0 }: Planned<R>, lists: readonly MemberList<R>[]): void {
    // Claims are ranked where they are made: with another priority they are other claims.
    if (priority !== this.#own.priority) this.release();
    if (priority !== this.#own.priority) this.#own = this.#createClaimant('', priority);
    const before = this.#joined;
    this.#joined = collections.map((collection, at) => {
      const members = before[at]?.of === collection.of ? before[at].members : new Map<string, Claimant>();
      return { of: collection.of, resources: collection.resources, members };
    });
    const kept = new Set(this.#joined.map(({ members }) => members));
    for (const { members } of before) if (!kept.has(members)) this.#leave(members, members.keys());
    this.#keys.claim(this.#own, resources);
    for (const [at, list] of lists.entries()) {
      const { members } = this.#joined[at]!;
      this.#leave(
        members,
        [...members.keys()].filter((name) => !list.has(name)),
      );
      this.setMembers(at, list);
    }
  }

  /** These members of the collection with this number; none of their resources is wanted where the list is empty. */
  setMembers(at: number, list: MemberList<R>): void {
    const { of, members } = this.#joined[at]!;
    for (const [name, resources] of list) {
      const member = members.get(name) ?? this.#createClaimant(`${at} ${of}/${name}`, this.#own.priority);
      this.#keys.claim(member, resources);
      if (resources.length === 0) members.delete(name);
      else members.set(name, member);
    }
  }

  release(): void {
    this.#keys.claim(this.#own, []);
    for (const { members } of this.#joined) this.#leave(members, members.keys());
    this.#joined = [];
  }

  claimants(): Claimant[] {
    return [this.#own, ...this.#joined.flatMap(({ members }) => [...members.values()])];
  }

  #leave(members: Map<string, Claimant>, names: Iterable<string>): void {
    for (const name of names) {
      this.#keys.claim(members.get(name)!, []);
      members.delete(name);
    }
  }

  #createClaimant(part: string, priority: number): Claimant {
    return { scope: this.#scope, part, priority, keys: [] };
  }
}
