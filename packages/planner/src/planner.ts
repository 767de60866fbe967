/**
 * Knows the list of every scope, and which facts its plan has read. It calls no kernel and no store; see apply.ts for the
 * effects.
 */
import { orAborted } from '@podwire/platform';
import type { Change, Conflict, Derivations, FactName, FactSources, Plan, Read, Scope } from './contract.js';
import { Facts } from './facts.js';
import { type KeyOptions, Keys } from './keys.js';
import { type Failure, Scopes } from './scopes.js';

export interface PlannerOptions<R> extends KeyOptions<R> {
  readonly plan: Plan<R>;
  readonly sources: FactSources;
  readonly derivations?: Derivations;
  /** A plan has thrown: the list that the scope had before stays. */
  readonly onPlanError?: (scope: Scope, error: unknown) => void;
}

export class Planner<R> {
  readonly #options: PlannerOptions<R>;
  readonly #facts: Facts;
  readonly #keys: Keys<R>;
  readonly #scopes: Scopes<R>;
  /** Resolved by the next change of anything; exists while a call waits for it. */
  #news: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: PlannerOptions<R>) {
    this.#options = options;
    this.#facts = new Facts(options.sources, options.derivations ?? {});
    this.#keys = new Keys(options);
    this.#scopes = new Scopes(options.plan, this.#facts, this.#keys);
  }

  /** Facts as they are now, for who is no plan: it does not hear of changes. */
  get read(): Read {
    return ((fact: string) => this.#facts.read(fact)) as Read;
  }

  /** Names of the scopes that have a plan. */
  get scopes(): Iterable<Scope> {
    return this.#scopes.names;
  }

  /** The scope is planned by the next {@link replan}, also when it is new. */
  markScope(scope: Scope): void {
    this.#scopes.mark(scope);
  }

  /** Marks the scopes whose plans have read one of these facts, or what is derived from it if that changes too. */
  noteChanged(facts: Iterable<FactName>): void {
    for (const fact of facts) this.#facts.note(fact);
  }

  /** Of a fact that is a set or a map of names, only these have come, gone or changed. Costs as much as they do. */
  noteMembers(fact: FactName, names: Iterable<string>): void {
    this.#facts.note(fact, [...names]);
  }

  /**
   * Runs the plans of marked scopes, in the order of the marks, at most so many of them.
   * @returns the scopes that were planned; none when nothing is left
   */
  replan(limit = Infinity): Scope[] {
    this.#facts.settle();
    const scopes = [...this.#scopes.marked].slice(0, limit);
    for (const scope of scopes) this.#report(scope, this.#scopes.planMarked(scope));
    this.#announce();
    return scopes;
  }

  /**
   * Plans one scope at once, for a call that waits for it. Marks of others stay.
   * @returns what has to be done at the keys that the scope has or had, also where an earlier call has not come to an end, apart
   *   from those that are under way; {@link inForce} waits for these
   * @throws the plan's error
   */
  planNow(scope: Scope): Change<R>[] {
    const keys = new Set(this.#scopes.keysOf(scope));
    const failure = this.#scopes.plan(scope);
    for (const key of this.#scopes.keysOf(scope)) keys.add(key);
    for (const key of this.#keys.pendingOf(scope)) keys.add(key);
    this.#announce();
    if (failure !== undefined) throw failure.error;
    return this.#keys.difference(keys);
  }

  /**
   * Plans these scopes from the facts of this moment and takes their lists for applied, as a journal claims. Marks stay: what
   * has changed since is planned by the next {@link replan}.
   */
  adopt(scopes: readonly Scope[]): void {
    for (const scope of scopes) this.#report(scope, this.#scopes.plan(scope, true));
    this.assumeApplied(scopes);
  }

  /**
   * Returns what has to be done at the keys that plans or uncertainty have touched, apart from those that are under way. The same again
   * until it is settled.
   */
  difference(): Change<R>[] {
    return this.#keys.difference();
  }

  /**
   * Before changes are carried out: until it is known how each has ended, neither what was nor what comes is certain, and no other
   * difference has its key. Each ends with {@link succeed}, {@link fail} or {@link abandon}.
   * @returns those that still have to be done, as they are now
   */
  begin(changes: readonly Change<R>[]): Change<R>[] {
    return this.#keys.begin(changes);
  }

  /** These changes were carried out. */
  succeed(changes: readonly Change<R>[]): void {
    this.#keys.succeed(changes);
    this.#announce();
  }

  /** These have failed. They are tried again when their scope changes or after {@link retry}, and stay uncertain until then. */
  fail(changes: readonly Change<R>[], error: unknown): void {
    this.#keys.fail(changes, error);
    this.#announce();
  }

  /** How these have ended is not known. They are part of the next difference, unless they have ended before. */
  abandon(changes: readonly Change<R>[]): void {
    this.#keys.abandon(changes);
    this.#announce();
  }

  /** Changes that have failed are tried with the next difference. */
  retry(): void {
    this.#keys.retry();
  }

  /** Everything on the list of the scope is there, nothing else at its keys; known from a reconcile or from a journal. */
  assumeApplied(scopes: Iterable<Scope>): void {
    for (const scope of scopes)
      for (const claimant of this.#scopes.claimantsOf(scope)) this.#keys.assumeApplied(claimant);
    this.#announce();
  }

  /**
   * Resolves when everything that these scopes want is there, and nothing that they have wanted before. A scope that does not
   * exist wants nothing.
   * @throws the plan's error, the engine's, one that names a conflict that a scope has lost, or the signal's reason
   */
  async inForce(scopes: readonly Scope[], { signal }: { readonly signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    while (!this.isInForce(scopes)) await this.changed(signal);
  }

  /** Resolves with the next change of anything: a plan has run, or a call has ended. @throws the signal's reason */
  async changed(signal: AbortSignal): Promise<void> {
    await orAborted(this.#nextNews(), signal);
  }

  /** Answers for this moment what {@link inForce} waits for. @throws the same errors */
  isInForce(scopes: readonly Scope[]): boolean {
    this.#facts.settle();
    return scopes.map((scope) => this.#isScopeInForce(scope)).every(Boolean);
  }

  /** Lists what the scope wants, without what it shares with a scope that has it. */
  resourcesOf(scope: Scope): R[] {
    return this.#scopes.claimantsOf(scope).flatMap((claimant) => this.#keys.resourcesOf(claimant));
  }

  /** How many resources the scope wants, shared ones included. */
  sizeOf(scope: Scope): number {
    return this.#scopes.claimantsOf(scope).reduce((sum, { keys }) => sum + keys.length, 0);
  }

  /** All that is wanted, by key. */
  planned(): Map<string, R> {
    return this.#keys.planned();
  }

  /** By key. */
  conflicts(): Conflict[] {
    return this.#keys.conflicts();
  }

  /** Costs nothing, as {@link conflicts} does. */
  get conflictCount(): number {
    return this.#keys.conflictCount;
  }

  /** @throws what keeps it from coming about */
  #isScopeInForce(scope: Scope): boolean {
    if (this.#scopes.isMarked(scope)) return false;
    const failure = this.#scopes.failureOf(scope);
    if (failure !== undefined) throw failure.error;
    const areThere = this.#scopes.claimantsOf(scope).map((claimant) => this.#keys.isInForce(claimant));
    return areThere.every(Boolean) && !this.#keys.isLeaving(scope);
  }

  #report(scope: Scope, failure: Failure | undefined): void {
    if (failure !== undefined) this.#options.onPlanError?.(scope, failure.error);
  }

  #announce(): void {
    this.#news?.resolve();
    this.#news = undefined;
  }

  #nextNews(): Promise<void> {
    if (this.#news === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((done) => (resolve = done));
      this.#news = { promise, resolve };
    }
    return this.#news.promise;
  }
}
