/** Knows of each key what is wanted there, what is there, and what has to happen. It calls no engine; see apply.ts. */
import { type Claimant, type Claims, dropClaim, findLosers, hasKey, putClaim, sharesKey } from './claims.js';
import { isSame } from './content.js';
import type { Action, Change, Conflict, Scope } from './contract.js';
import { PendingKeys } from './pending.js';

export interface KeyOptions<R> {
  /** Two resources of one key cannot both be there. A place that a scope has for itself makes a key its own. */
  readonly keyOf: (resource: R, scope: Scope) => string;
  /** In a few words, for messages. The key when absent. */
  readonly describe?: (resource: R) => string;
}

interface Entry<R> extends Claims<R> {
  /** Resources that are there. While `uncertain`, each of them may be there or not. */
  present: readonly R[];
  uncertain: boolean;
  /** The scope that `present` was applied for. */
  holder: Scope;
  /** It was begun, and how it ended is not known yet. */
  underWay: Change<R> | undefined;
}

const nothing: readonly never[] = [];

export class Keys<R> {
  readonly #options: KeyOptions<R>;
  readonly #entries = new Map<string, Entry<R>>();
  readonly #pending = new PendingKeys();
  readonly #failed = new Map<string, unknown>();
  readonly #conflicts = new Set<string>();

  constructor(options: KeyOptions<R>) {
    this.#options = options;
  }

  /** The claimant wants these from now on, and nothing else. */
  claim(claimant: Claimant, resources: readonly R[]): void {
    const { keyOf } = this.#options;
    const wanted = new Map(resources.map((resource) => [keyOf(resource, claimant.scope), resource]));
    for (const key of claimant.keys) if (!wanted.has(key)) this.#drop(key, claimant);
    for (const [key, resource] of wanted) this.#put(key, claimant, resource);
    claimant.keys = [...wanted.keys()];
  }

  /** Updates of these keys, or of all that plans or uncertainty have touched, apart from those under way. */
  difference(keys: Iterable<string> = this.#pending): Change<R>[] {
    const changes: Change<R>[] = [];
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined || entry.underWay !== undefined || !this.#pending.has(key)) continue;
      const change = changeAt(key, entry);
      if (change === undefined) this.#settle(key, entry);
      else changes.push(change);
    }
    return changes;
  }

  /** @returns those that still have to happen, as they are now */
  begin(changes: readonly Change<R>[]): Change<R>[] {
    const begun = this.difference(changes.map(({ key }) => key));
    for (const change of begun) {
      const entry = this.#entries.get(change.key)!;
      const { remove, add } = change;
      // The wanted resource itself may be among what is there.
      entry.present = add === undefined ? remove : [...remove, add];
      entry.uncertain = true;
      entry.underWay = change;
      this.#failed.delete(change.key);
    }
    return begun;
  }

  succeed(changes: readonly Change<R>[]): void {
    for (const change of changes) {
      const entry = this.#end(change);
      if (entry === undefined) continue;
      entry.present = change.add === undefined ? nothing : [change.add];
      entry.uncertain = false;
      entry.holder = change.scope;
      this.#settleIfDone(change.key, entry);
    }
  }

  fail(changes: readonly Change<R>[], error: unknown): void {
    for (const change of changes) {
      const entry = this.#end(change);
      // If another resource is wanted by now, that one has not failed.
      if (entry === undefined || !isSame(entry.wanted, change.add)) continue;
      this.#pending.delete(change.key);
      this.#failed.set(change.key, error);
    }
  }

  abandon(changes: readonly Change<R>[]): void {
    for (const change of changes) {
      const entry = this.#entries.get(change.key);
      if (entry?.underWay === change) entry.underWay = undefined;
    }
  }

  retry(): void {
    for (const key of this.#failed.keys()) this.#pending.add(key, this.#entries.get(key)!.holder);
    this.#failed.clear();
  }

  /** Everything that the scope of the claimant has is there. */
  assumeApplied({ keys, scope }: Claimant): void {
    for (const key of keys) {
      const entry = this.#entries.get(key)!;
      if (entry.winner?.scope !== scope) continue;
      entry.present = [entry.wanted!];
      entry.uncertain = false;
      entry.holder = scope;
      this.#failed.delete(key);
      this.#settleIfDone(key, entry);
    }
  }

  /** Of what the claimant wants, what it has and does not leave to another one that wants the same. */
  resourcesOf(claimant: Claimant): R[] {
    const entries = claimant.keys.map((key) => this.#entries.get(key)!);
    return entries.flatMap(({ winner, wanted }) => (winner === claimant ? [wanted!] : []));
  }

  planned(): Map<string, R> {
    const wanted = [...this.#entries].filter(([, { winner }]) => winner !== undefined);
    return new Map(wanted.map(([key, entry]) => [key, entry.wanted!]));
  }

  conflicts(): Conflict[] {
    return [...this.#conflicts].sort().map((key) => this.#conflictAt(key));
  }

  get conflictCount(): number {
    return this.#conflicts.size;
  }

  /** @throws the error that keeps a key from being as the claimant wants it @returns whether all are */
  isInForce(claimant: Claimant): boolean {
    let isAll = true;
    for (const key of claimant.keys) {
      const entry = this.#entries.get(key)!;
      if (!hasKey(entry, claimant)) throw new Error(this.#conflictAt(key).message);
      if (this.#failed.has(key)) throw this.#failed.get(key);
      isAll &&= this.#isDone(key, entry);
    }
    return isAll;
  }

  /** Keys with something that was applied for the scope and may have to go. */
  pendingOf(scope: Scope): Iterable<string> {
    return this.#pending.heldBy(scope);
  }

  /** Something that was applied for the scope has to go. */
  isLeaving(scope: Scope): boolean {
    for (const key of this.pendingOf(scope)) {
      const entry = this.#entries.get(key)!;
      if (entry.present.length > 0 && !this.#isDone(key, entry)) return true;
    }
    return false;
  }

  #put(key: string, claimant: Claimant, resource: R): void {
    const entry = this.#entries.get(key) ?? createEntry<R>(claimant.scope);
    if (entry.winner === undefined) this.#entries.set(key, entry);
    this.#note(key, entry, putClaim(entry, claimant, resource));
  }

  #drop(key: string, claimant: Claimant): void {
    const entry = this.#entries.get(key)!;
    this.#note(key, entry, dropClaim(entry, claimant));
  }

  #note(key: string, { differing, uncertain, holder }: Entry<R>, hasChanged: boolean): void {
    if (differing > 0) this.#conflicts.add(key);
    else this.#conflicts.delete(key);
    if (!hasChanged && !uncertain) return;
    this.#pending.add(key, holder);
    this.#failed.delete(key);
  }

  /** @returns undefined when another call has to do with the key by now */
  #end(change: Change<R>): Entry<R> | undefined {
    const entry = this.#entries.get(change.key);
    if (entry === undefined || (entry.underWay !== undefined && entry.underWay !== change)) return undefined;
    entry.underWay = undefined;
    return entry;
  }

  #isDone(key: string, entry: Entry<R>): boolean {
    if (entry.underWay !== undefined) return false;
    return !this.#pending.has(key) || changeAt(key, entry) === undefined;
  }

  /** The plan may have changed while it was under way. */
  #settleIfDone(key: string, entry: Entry<R>): void {
    if (this.#isDone(key, entry)) this.#settle(key, entry);
    else this.#pending.add(key, entry.holder);
  }

  #settle(key: string, { winner, present }: Entry<R>): void {
    this.#pending.delete(key);
    if (winner === undefined && present.length === 0) this.#entries.delete(key);
  }

  #conflictAt(key: string): Conflict {
    const entry = this.#entries.get(key)!;
    const { scope: winner, priority } = entry.winner!;
    const losers = findLosers(entry);
    const what = this.#options.describe?.(entry.wanted!) ?? key;
    const rank = priority === 0 ? '' : ` with priority ${priority}`;
    const [verb, names] = [losers.length === 1 ? 'wants' : 'want', losers.join(', ') || winner];
    return {
      ...{ key, winner, losers, priority },
      message: `${what}: ${winner} has it${rank}; ${names} ${verb} it differently`,
    };
  }
}

/** There are as many as resources on a node, and they are made in bulk: no spread. */
function createEntry<R>(holder: Scope): Entry<R> {
  return {
    winner: undefined,
    wanted: undefined,
    others: undefined,
    differing: 0,
    present: nothing,
    uncertain: false,
    holder,
    underWay: undefined,
  };
}

function changeAt<R>(key: string, entry: Entry<R>): Change<R> | undefined {
  const { winner, wanted, present, uncertain, holder: from } = entry;
  const remove = winner === undefined ? present : present.filter((each) => !isSame(each, wanted));
  const isThere = !uncertain && winner !== undefined && remove.length < present.length;
  const add = isThere ? undefined : wanted;
  if (remove.length === 0 && add === undefined) return undefined;
  // The scope that has applied it keeps it while it agrees: only content changes then, not the owner.
  const scope = winner === undefined || sharesKey(entry, from) ? from : winner.scope;
  return { key, action: actionOf(remove, add, scope === from), scope, from, remove, add };
}

function actionOf(remove: readonly unknown[], add: unknown, isOwn: boolean): Action {
  if (remove.length === 0) return 'add';
  if (add === undefined) return 'remove';
  return isOwn ? 'replace' : 'move';
}
