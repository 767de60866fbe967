/** Runs the plans of scopes and knows what each has read, what it claims, and what has to be planned again. */
import type { Claimant } from './claims.js';
import type { Collection, FactName, FactValue, Names, Plan, Planned, Scope } from './contract.js';
import type { Facts, Reader } from './facts.js';
import type { Keys } from './keys.js';
import { type MemberList, ScopeClaims } from './scope-claims.js';

export interface Failure {
  readonly error: unknown;
}

interface ScopeState<R> extends Reader {
  readonly claims: ScopeClaims<R>;
  /** Facts that the plan itself has read; of the others in `reads` it has only joined the members. */
  read: ReadonlySet<string>;
  failure: Failure | undefined;
}

/** A scope is to be planned, or only these members of these facts. */
type Mark = 'all' | Map<string, Set<string>>;

const noNames: ReadonlySet<string> = new Set();

export class Scopes<R> {
  readonly #plan: Plan<R>;
  readonly #facts: Facts;
  readonly #keys: Keys<R>;
  readonly #states = new Map<Scope, ScopeState<R>>();
  readonly #marks = new Map<Scope, Mark>();

  constructor(plan: Plan<R>, facts: Facts, keys: Keys<R>) {
    this.#plan = plan;
    this.#facts = facts;
    this.#keys = keys;
  }

  get names(): Iterable<Scope> {
    return this.#states.keys();
  }

  /** In the order in which they were marked. */
  get marked(): Iterable<Scope> {
    return this.#marks.keys();
  }

  isMarked(scope: Scope): boolean {
    return this.#marks.has(scope);
  }

  mark(scope: Scope): void {
    this.#marks.set(scope, 'all');
  }

  /** Plans what is marked of the scope. @returns the plan's failure */
  planMarked(scope: Scope): Failure | undefined {
    const [mark, state] = [this.#marks.get(scope), this.#states.get(scope)];
    return mark instanceof Map && state !== undefined
      ? this.#planMembers(scope, state, mark)
      : this.plan(scope);
  }

  /** Plans the scope as a whole. @param keepsMark it is planned again by the next {@link planMarked} */
  plan(scope: Scope, keepsMark = false): Failure | undefined {
    if (!keepsMark) this.#marks.delete(scope);
    const state = this.#states.get(scope) ?? this.#createState(scope);
    const read = new Set<string>();
    let collections: readonly Collection<R>[] = [];
    try {
      const plan = this.#plan(scope, this.#facts.follow(read));
      if (plan === undefined) return this.#forget(scope, state);
      const planned: Planned<R> = isList(plan) ? { resources: plan } : plan;
      collections = planned.collections ?? [];
      // All is listed before anything is claimed: where something throws, nothing has changed.
      const lists = collections.map((collection) => this.#listMembers(collection));
      state.claims.set(planned, lists);
      state.failure = undefined;
    } catch (error) {
      state.failure = { error };
    }
    this.#setReads(state, read, collections);
    this.#states.set(scope, state);
    return state.failure;
  }

  claimantsOf(scope: Scope): Claimant[] {
    return this.#states.get(scope)?.claims.claimants() ?? [];
  }

  keysOf(scope: Scope): string[] {
    return this.claimantsOf(scope).flatMap(({ keys }) => keys);
  }

  failureOf(scope: Scope): Failure | undefined {
    return this.#states.get(scope)?.failure;
  }

  /** @returns the failure */
  #planMembers(
    scope: Scope,
    { claims }: ScopeState<R>,
    touched: ReadonlyMap<string, ReadonlySet<string>>,
  ): Failure | undefined {
    try {
      const lists = claims.collections.map((collection) =>
        this.#listMembers(collection, touched.get(collection.of) ?? noNames),
      );
      for (const [at, list] of lists.entries()) claims.setMembers(at, list);
      this.#marks.delete(scope);
      return undefined;
    } catch {
      return this.plan(scope);
    }
  }

  /** All members, or those of these names: with an empty list where there is no such member. */
  #listMembers({ of, resources }: Collection<R>, names?: Iterable<string>): MemberList<R> {
    const found = this.#facts.read(of) as Names | undefined;
    const wanted = names ?? found?.keys() ?? noNames;
    const list = new Map<string, readonly R[]>();
    for (const name of wanted) list.set(name, found?.has(name) === true ? resources(name, found) : []);
    return list;
  }

  #createState(scope: Scope): ScopeState<R> {
    const state: ScopeState<R> = {
      claims: new ScopeClaims(this.#keys, scope),
      reads: noNames,
      read: noNames,
      failure: undefined,
      note: (fact, members) => this.#note(scope, state, fact, members),
    };
    return state;
  }

  /** A plan that has failed runs as a whole: the members of that time are not known. */
  #note(scope: Scope, state: ScopeState<R>, fact: string, members: readonly string[] | undefined): void {
    const mark = this.#marks.get(scope) ?? new Map<string, Set<string>>();
    if (members === undefined || mark === 'all' || state.failure !== undefined || state.read.has(fact)) {
      this.mark(scope);
      return;
    }
    const touched = mark.get(fact) ?? new Set();
    for (const member of members) touched.add(member);
    this.#marks.set(scope, mark.set(fact, touched));
  }

  #setReads(state: ScopeState<R>, read: ReadonlySet<string>, joined: readonly Collection<R>[]): void {
    state.read = read;
    this.#facts.setReads(
      state,
      joined.length === 0 ? read : new Set([...read, ...joined.map(({ of }) => of)]),
    );
  }

  #forget(scope: Scope, state: ScopeState<R>): undefined {
    this.#facts.setReads(state, noNames);
    state.claims.release();
    this.#states.delete(scope);
  }
}

/** The members of a fact that is a set or a map of names, for {@link Planned.collections}. */
export function collect<N extends FactName, R>(
  of: N,
  resources: (name: string, names: NonNullable<FactValue<N>> & Names) => readonly R[],
): Collection<R> {
  return { of, resources: resources as Collection<R>['resources'] };
}

const isList = <R>(plan: readonly R[] | Planned<R>): plan is readonly R[] => Array.isArray(plan);
