/**
 * Knows what every scope wants, which facts its plan has read, and what is applied. Pure bookkeeping: it calls no kernel and
 * no store; see apply.ts for the effects.
 */

/** `node`, `peer/NAME`, `endpoint/ID`, or what a model adds. */
export type Scope = string;

/** Returns the fact of this key, and makes the plan run again when it changes. */
export type Read = (fact: string) => unknown;

/** A pure function of the scope and of the facts it reads. `undefined`: the scope does not exist (any more). */
export type Plan<R> = (scope: Scope, read: Read) => readonly R[] | undefined;

export interface PlannerOptions<R> {
  readonly plan: Plan<R>;
  readonly readFact: Read;
  /** Two resources of one key cannot both be there. */
  readonly keyOf: (resource: R) => string;
  /** A plan has thrown: what the scope wanted before stays. */
  readonly onPlanError?: (scope: Scope, error: unknown) => void;
}

/** What has to happen at one key: `remove` first, then `add`. */
export interface Change<R> {
  readonly key: string;
  /** The scope whose resource is added; for a removal alone that of `from`. */
  readonly scope: Scope;
  /** The scope that what is removed was applied for. */
  readonly from: Scope;
  /** What is there, or may be there, and is not wanted. */
  readonly remove: readonly R[];
  readonly add: R | undefined;
}

/** Scopes that want different things at one key. The scope that comes first by name has it. */
export interface Conflict {
  readonly key: string;
  readonly winner: Scope;
  readonly losers: readonly Scope[];
}

interface Claim<R> {
  readonly scope: Scope;
  readonly resource: R;
}

interface Entry<R> {
  /** Sorted by scope. */
  claims: readonly Claim<R>[];
  /** What is there. While `uncertain`, each of them may be there or not. */
  present: readonly R[];
  uncertain: boolean;
  /** What is there was applied for this scope. */
  holder: Scope;
}

interface ScopeState {
  facts: ReadonlySet<string>;
  keys: ReadonlySet<string>;
}

const noKeys: ReadonlySet<string> = new Set();

export class Planner<R> {
  readonly #options: PlannerOptions<R>;
  readonly #scopes = new Map<Scope, ScopeState>();
  readonly #readers = new Map<string, Set<Scope>>();
  readonly #entries = new Map<string, Entry<R>>();
  readonly #dirty = new Set<Scope>();
  /** Keys where something may have to happen. */
  readonly #pending = new Set<string>();
  readonly #conflicts = new Set<string>();

  constructor(options: PlannerOptions<R>) {
    this.#options = options;
  }

  /** Names of the scopes that have a plan. */
  get scopes(): Iterable<Scope> {
    return this.#scopes.keys();
  }

  /** The scope is planned by the next {@link replan}, also when it is new. */
  markScope(scope: Scope): void {
    this.#dirty.add(scope);
  }

  /** Marks the scopes whose plans have read one of these facts. */
  noteChanged(facts: Iterable<string>): void {
    for (const fact of facts) for (const scope of this.#readers.get(fact) ?? []) this.#dirty.add(scope);
  }

  /**
   * Runs the plans of marked scopes, in order of their names, at most so many of them.
   * @returns the scopes that were planned; none when nothing is left
   */
  replan(limit = Infinity): Scope[] {
    const scopes = [...this.#dirty].sort().slice(0, limit);
    for (const scope of scopes) {
      this.#dirty.delete(scope);
      this.#planScope(scope);
    }
    return scopes;
  }

  /**
   * Plans these scopes from the facts of this moment and takes what they want for applied, as a journal says it is. Marks stay: what has
   * changed since is planned by the next {@link replan}.
   */
  adopt(scopes: readonly Scope[]): void {
    for (const scope of scopes) this.#planScope(scope);
    this.assumeApplied(scopes);
  }

  /** What has to be done at the keys that plans or uncertainty have touched. The same again until it is settled. */
  difference(): Change<R>[] {
    const changes: Change<R>[] = [];
    for (const key of this.#pending) {
      const change = this.#changeAt(key);
      if (change === undefined) this.#settleEntry(key);
      else changes.push(change);
    }
    return changes;
  }

  /** Before a change is carried out: until it is settled, neither what was nor what comes is certain. */
  begin(changes: readonly Change<R>[]): void {
    for (const { key, remove, add } of changes) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.present = add === undefined ? remove : unique([...entry.present, add]);
      entry.uncertain = true;
    }
  }

  /** These changes were carried out. */
  succeed(changes: readonly Change<R>[]): void {
    for (const { key, scope, add } of changes) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.present = add === undefined ? [] : [add];
      entry.uncertain = false;
      entry.holder = scope;
      // The plan may have changed meanwhile.
      if (this.#changeAt(key) === undefined) this.#settleEntry(key);
    }
  }

  /** These have failed. They are tried again when their scope changes or after {@link retry}, and stay uncertain until then. */
  fail(changes: readonly Change<R>[]): void {
    for (const { key } of changes) this.#pending.delete(key);
  }

  /** What has failed is tried with the next difference. */
  retry(): void {
    for (const [key, entry] of this.#entries) if (entry.uncertain) this.#pending.add(key);
  }

  /** Everything that the scope wants is there, nothing else at its keys; known from a reconcile or from a journal. */
  assumeApplied(scopes: Iterable<Scope>): void {
    for (const scope of scopes) {
      for (const key of this.#scopes.get(scope)?.keys ?? noKeys) {
        const entry = this.#entries.get(key)!;
        const winner = entry.claims[0]!;
        if (winner.scope !== scope) continue;
        entry.present = [winner.resource];
        entry.uncertain = false;
        entry.holder = scope;
        this.#settleEntry(key);
      }
    }
  }

  /** What the scope has: of what it wants, the keys that it does not share with a scope before it. */
  resourcesOf(scope: Scope): R[] {
    const keys = [...(this.#scopes.get(scope)?.keys ?? noKeys)];
    return keys.flatMap((key) => {
      const [winner] = this.#entries.get(key)!.claims;
      return winner?.scope === scope ? [winner.resource] : [];
    });
  }

  /** How many resources the scope wants, shared ones included. */
  sizeOf(scope: Scope): number {
    return this.#scopes.get(scope)?.keys.size ?? 0;
  }

  /** All that is wanted, by key. */
  planned(): Map<string, R> {
    const wanted = [...this.#entries].filter(([, { claims }]) => claims.length > 0);
    return new Map(wanted.map(([key, { claims }]) => [key, claims[0]!.resource]));
  }

  conflicts(): Conflict[] {
    return [...this.#conflicts].sort().map((key) => {
      const [winner, ...others] = this.#entries.get(key)!.claims;
      const differing = others.filter(({ resource }) => !isSame(resource, winner!.resource));
      return { key, winner: winner!.scope, losers: differing.map(({ scope }) => scope) };
    });
  }

  #planScope(scope: Scope): void {
    const facts = new Set<string>();
    const read: Read = (fact) => {
      facts.add(fact);
      return this.#options.readFact(fact);
    };
    try {
      const resources = this.#options.plan(scope, read);
      this.#setFacts(scope, facts);
      this.#setClaims(scope, resources ?? []);
      if (resources === undefined) this.#forget(scope);
    } catch (error) {
      this.#setFacts(scope, facts);
      this.#options.onPlanError?.(scope, error);
    }
  }

  #setFacts(scope: Scope, facts: ReadonlySet<string>): void {
    const state = this.#scopes.get(scope) ?? { facts: noKeys, keys: noKeys };
    for (const fact of state.facts) if (!facts.has(fact)) this.#stopReading(fact, scope);
    for (const fact of facts) {
      const readers = this.#readers.get(fact);
      if (readers === undefined) this.#readers.set(fact, new Set([scope]));
      else readers.add(scope);
    }
    state.facts = facts;
    this.#scopes.set(scope, state);
  }

  #stopReading(fact: string, scope: Scope): void {
    const readers = this.#readers.get(fact);
    readers?.delete(scope);
    if (readers?.size === 0) this.#readers.delete(fact);
  }

  #setClaims(scope: Scope, resources: readonly R[]): void {
    const state = this.#scopes.get(scope)!;
    const wanted = new Map(resources.map((resource) => [this.#options.keyOf(resource), resource]));
    for (const key of state.keys) if (!wanted.has(key)) this.#setClaim(key, scope, undefined);
    for (const [key, resource] of wanted) this.#setClaim(key, scope, resource);
    state.keys = new Set(wanted.keys());
  }

  #setClaim(key: string, scope: Scope, resource: R | undefined): void {
    const entry = this.#entries.get(key) ?? { claims: [], present: [], uncertain: false, holder: scope };
    const before = entry.claims.find((claim) => claim.scope === scope);
    if (before !== undefined && resource !== undefined && isSame(before.resource, resource)) {
      if (entry.uncertain) this.#pending.add(key);
      return;
    }
    const others = entry.claims.filter((claim) => claim !== before);
    const claims = resource === undefined ? others : [...others, { scope, resource }];
    entry.claims = claims.length < 2 ? claims : claims.toSorted((a, b) => (a.scope < b.scope ? -1 : 1));
    this.#entries.set(key, entry);
    this.#pending.add(key);
    this.#noteConflict(key, entry);
  }

  #noteConflict(key: string, { claims }: Entry<R>): void {
    if (claims.some(({ resource }) => !isSame(resource, claims[0]!.resource))) this.#conflicts.add(key);
    else this.#conflicts.delete(key);
  }

  #forget(scope: Scope): void {
    for (const fact of this.#scopes.get(scope)?.facts ?? noKeys) this.#stopReading(fact, scope);
    this.#scopes.delete(scope);
  }

  #changeAt(key: string): Change<R> | undefined {
    const { claims, present, uncertain, holder } = this.#entries.get(key)!;
    const [winner] = claims;
    const isThere = !uncertain && winner !== undefined && isSameAsAny(winner.resource, present);
    const remove = present.filter((each) => winner === undefined || !isSame(each, winner.resource));
    const add = isThere ? undefined : winner?.resource;
    if (remove.length === 0 && add === undefined) return undefined;
    return { key, scope: winner?.scope ?? holder, from: holder, remove, add };
  }

  #settleEntry(key: string): void {
    this.#pending.delete(key);
    const entry = this.#entries.get(key);
    if (entry?.claims.length === 0 && entry.present.length === 0) this.#entries.delete(key);
  }
}

/** Plans are data: the same text is the same thing. Unchanged facts often give the very same object. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

const isSameAsAny = (one: unknown, others: readonly unknown[]): boolean =>
  others.some((other) => isSame(one, other));

function unique<R>(resources: readonly R[]): R[] {
  return resources.filter((each, index) => !isSameAsAny(each, resources.slice(0, index)));
}
