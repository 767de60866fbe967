/** Sets that compiled rules ask for, with their members now, and which of these are others than before. */
import type { CompiledSet, SetChange, SetId } from './contract.js';
import type { LiveSelections, SelectionListener } from './live-selections.js';
import { mergeNets } from './nets.js';
import type { Selection, SetDescription, SetPart } from './parts.js';
import { channelOfPart, membersOfPod, membersOfThing, type Thing } from './things.js';

export interface LiveSet {
  readonly set: CompiledSet;
  readonly members: ReadonlySet<string>;
}

interface Live extends LiveSet {
  readonly description: SetDescription;
  /** For prefixes, what is merged of `given`; else the same. */
  readonly members: Set<string>;
  readonly given: Set<string>;
  /** How many more times than once something is given. */
  readonly repeated: Map<string, number>;
  readonly listening: { readonly selection: Selection; readonly listener: SelectionListener }[];
  users: number;
}

/** Before the change. */
type Touched = Map<string, boolean>;

/** Where things are, by channel. */
export type FindThings = (channel: string) => Iterable<Thing>;

export class LiveSets {
  readonly #sets = new Map<SetId, Live>();
  readonly #selections: LiveSelections;
  readonly #findThings: FindThings;
  readonly #subscribers = new Map<string, Set<{ readonly live: Live; readonly part: SetPart }>>();
  readonly #touched = new Map<Live, Touched>();
  readonly #begun = new Set<Live>();
  readonly #ended = new Map<SetId, CompiledSet>();

  constructor(selections: LiveSelections, findThings: FindThings) {
    this.#selections = selections;
    this.#findThings = findThings;
  }

  get sets(): ReadonlyMap<SetId, LiveSet> {
    return this.#sets;
  }

  acquire(description: SetDescription): void {
    const live = this.#sets.get(description.id) ?? this.#begin(description);
    live.users++;
  }

  /** Takes effect with the next `takeChanges`: until then it may be acquired again. */
  release(id: SetId): void {
    this.#sets.get(id)!.users--;
    this.#ended.set(id, this.#sets.get(id)!.set);
  }

  /** A thing has come, gone or changed. */
  replaceThing(channel: string, before: Thing | undefined, after: Thing | undefined): void {
    for (const { live, part } of this.#subscribers.get(channel) ?? []) {
      if (after !== undefined) this.#give(live, membersOfThing(part, after, live.set.family));
      if (before !== undefined) this.#take(live, membersOfThing(part, before, live.set.family));
    }
  }

  /** Changes since the last call. */
  takeChanges(): { readonly sets: SetChange[]; readonly removed: CompiledSet[] } {
    const removed = [...this.#ended.keys()].flatMap((id) => this.#end(id));
    const sets: SetChange[] = [];
    for (const live of new Set([...this.#begun, ...this.#touched.keys()])) {
      const change = this.#changeOf(live, this.#touched.get(live) ?? new Map<string, boolean>());
      if (this.#begun.has(live) || change.add.length > 0 || change.remove.length > 0) sets.push(change);
    }
    this.#begun.clear();
    this.#touched.clear();
    this.#ended.clear();
    return { sets, removed };
  }

  #begin(description: SetDescription): Live {
    const { id, type, family, comment } = description;
    const given = new Set<string>();
    const members = type === 'nets' ? new Set<string>() : given;
    const set = { id, type, family, comment };
    const live: Live = { set, description, members, given, repeated: new Map(), listening: [], users: 0 };
    this.#sets.set(id, live);
    this.#begun.add(live);
    for (const part of description.parts) this.#follow(live, part);
    return live;
  }

  #follow(live: Live, part: SetPart): void {
    const { family } = live.set;
    if (part.from === 'nets') return this.#give(live, part.nets);
    if (part.from !== 'pods') {
      const channel = channelOfPart(part);
      this.#subscribers.set(channel, (this.#subscribers.get(channel) ?? new Set()).add({ live, part }));
      for (const thing of this.#findThings(channel)) this.#give(live, membersOfThing(part, thing, family));
      return;
    }
    const listener: SelectionListener = (before, after) => {
      if (after !== undefined) this.#give(live, membersOfPod(part, after, family));
      if (before !== undefined) this.#take(live, membersOfPod(part, before, family));
    };
    live.listening.push({ selection: part.selection, listener });
    for (const pod of this.#selections.listen(part.selection, listener).pods.values())
      this.#give(live, membersOfPod(part, pod, family));
  }

  /** @returns the set, unless it is used again or has never been told of */
  #end(id: SetId): CompiledSet[] {
    const live = this.#sets.get(id);
    if (live === undefined || live.users > 0) return [];
    for (const { selection, listener } of live.listening) this.#selections.unlisten(selection, listener);
    for (const part of live.description.parts) this.#unsubscribe(live, channelOfPart(part));
    this.#sets.delete(id);
    this.#touched.delete(live);
    return this.#begun.delete(live) ? [] : [live.set];
  }

  #unsubscribe(live: Live, channel: string): void {
    const subscribers = this.#subscribers.get(channel);
    if (subscribers === undefined) return;
    for (const each of subscribers) if (each.live === live) subscribers.delete(each);
    if (subscribers.size === 0) this.#subscribers.delete(channel);
  }

  #give(live: Live, members: readonly string[]): void {
    for (const member of members) {
      if (live.given.has(member)) {
        live.repeated.set(member, (live.repeated.get(member) ?? 0) + 1);
        continue;
      }
      this.#touch(live, member, false);
      live.given.add(member);
    }
  }

  #take(live: Live, members: readonly string[]): void {
    for (const member of members) {
      const more = live.repeated.get(member) ?? 0;
      if (more > 1) live.repeated.set(member, more - 1);
      else if (more === 1) live.repeated.delete(member);
      else if (live.given.delete(member)) this.#touch(live, member, true);
    }
  }

  #touch(live: Live, member: string, was: boolean): void {
    const touched = this.#touched.get(live) ?? new Map<string, boolean>();
    this.#touched.set(live, touched);
    if (!touched.has(member)) touched.set(member, was);
  }

  #changeOf(live: Live, touched: Touched): SetChange {
    if (live.set.type === 'nets') return mergeAgain(live);
    const add = [...touched].filter(([member, was]) => !was && live.members.has(member));
    const remove = [...touched].filter(([member, was]) => was && !live.members.has(member));
    return { set: live.set, add: add.map(([member]) => member), remove: remove.map(([member]) => member) };
  }
}

/** One prefix more may change several of those that are merged. */
function mergeAgain({ set, given, members }: Live): SetChange {
  const wanted = new Set(mergeNets(given, set.family));
  const add = [...wanted].filter((net) => !members.has(net));
  const remove = [...members].filter((net) => !wanted.has(net));
  for (const net of remove) members.delete(net);
  for (const net of add) members.add(net);
  return { set, add, remove };
}
