/**
 * Everything that a program wants of its systems, by scope: planned from facts, written down, applied as one difference,
 * and held against what is there.
 */
import { setImmediate } from 'node:timers/promises';
import type { Change, Owned, OwnerId, Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import {
  applyAtOnce,
  applyChanges,
  type ApplyOutcome,
  type Change as PlannedChange,
  type FactSources,
  Planner,
  type Read,
  type Scope,
} from '@podwire/planner';
import { compact, groupBy, type Log } from '@podwire/platform';
import type {
  ApplyScopeOptions,
  DesiredStateOptions,
  FollowOptions,
  FollowOutcome,
  KindFilter,
  Memory,
  PlannedScope,
  ReconcileOptions,
  ScopeKind,
} from './contract.js';
import { failuresOf, idOf, keyIn, kindNameOf } from './names.js';

/** Plans between two turns of the event loop. */
const plansAtOnce = 256;

type AnyKind = ScopeKind<unknown>;

export class DesiredState {
  /** For single scopes: to mark them, to plan one at once, to wait until some are in force. */
  readonly planner: Planner<Resource>;
  readonly #log: Log;
  readonly #kinds = new Map<string, AnyKind>();
  /** The planner looks up sources when it reads: kinds may come after it. */
  readonly #sources: Record<string, (id: string) => unknown> = {};
  readonly #derivations: Record<string, (id: string, read: Read) => unknown> = {};
  /** Facts that are read instead of the sources of their kind. */
  #adopting: { readonly kind: string; readonly found: ReadonlyMap<string, unknown> } | undefined;
  /** Why scopes could not be planned: they have what was planned before. */
  readonly #planErrors = new Map<Scope, unknown>();
  /** Why the last attempt to apply something of a scope has failed. */
  readonly #applyErrors = new Map<Scope, unknown>();
  /** Scopes that exist, of each kind that lists its own. */
  readonly #listed = new Map<string, ReadonlySet<string>>();
  /** Planned as gone, and perhaps not removed yet. */
  readonly #gone = new Set<Scope>();
  #revision = 0;

  constructor({ kinds, log }: DesiredStateOptions) {
    this.#log = log;
    this.planner = new Planner<Resource>({
      plan: (scope, read) => this.#plan(scope, read),
      sources: this.#sources,
      derivations: this.#derivations,
      keyOf: (resource, scope) => keyIn(kinds, resource, scope),
      describe: kinds.describe,
      onPlanError: (scope, error) => this.#planErrors.set(scope, error),
    });
  }

  /** Another number when {@link owned} may be others, but for scopes that {@link applyScope} has planned. */
  get revision(): number {
    return this.#revision;
  }

  /** Before the first scope of the kind is planned. @throws RangeError where something of it has been brought before */
  register<T = never>(kind: ScopeKind<T>): void {
    if (this.#kinds.has(kind.kind))
      throw new RangeError(`scopes of kind ${kind.kind} are registered already`);
    this.#kinds.set(kind.kind, kind as AnyKind);
    const { memory } = kind as AnyKind;
    const remembered =
      memory === undefined ? {} : { [kind.kind]: (id: string) => this.#recall(kind.kind, memory, id) };
    addFacts(this.#sources, { ...remembered, ...kind.sources });
    addFacts(this.#derivations, { ...kind.derivations });
    if (kind.list !== undefined) this.planner.markScope(kind.kind);
  }

  /** Facts as they are now, for who is no plan. */
  get read(): Read {
    return this.planner.read;
  }

  /** Adds facts that belong to no kind of scopes. @throws RangeError where one of them has been brought before */
  addFacts(sources: FactSources): void {
    addFacts(this.#sources, sources);
  }

  /**
   * Takes the facts of an earlier life for applied, without applying them. Once, before anything is looked at or changed.
   * @param found by id; what the journal of the kind has when absent
   */
  adopt(kind: string, found?: ReadonlyMap<string, unknown>): void {
    const { memory, onPlanned } = this.#kindOf(kind);
    found ??= memory?.journal?.found ?? new Map<string, unknown>();
    this.#adopting = { kind, found };
    this.planner.adopt([...found.keys()].map((id) => `${kind}/${id}`));
    this.#adopting = undefined;
    this.#revision++;
    for (const [id, fact] of found) onPlanned?.(id, this.#describeRun(`${kind}/${id}`, fact));
  }

  /**
   * Plans what is marked and writes down the facts, as {@link follow} and {@link reconcile} do first.
   * @returns the scopes that were planned
   */
  async plan(signal: AbortSignal): Promise<Scope[]> {
    const planned: Scope[] = [];
    for (;;) {
      const scopes = this.planner.replan(plansAtOnce);
      // A plan that lists scopes, and a report, may have marked others.
      if (scopes.length === 0) return planned;
      this.#report(scopes);
      planned.push(...scopes);
      if (scopes.length === plansAtOnce) await setImmediate(undefined, { signal });
    }
  }

  /**
   * Plans what is marked, writes down the facts, and applies what differs of these kinds. One call after the other.
   * @throws the signal's reason; what was under way is uncertain then, and is part of the next call
   */
  async follow({ engine, signal }: FollowOptions, filter: KindFilter = isAny): Promise<FollowOutcome> {
    const planned = await this.plan(signal);
    const changes = this.planner.difference().filter(({ scope }) => filter(kindNameOf(scope)));
    const outcome = await this.#apply(changes, { engine, signal });
    this.#forgetGone(filter);
    return { ...outcome, planned: planned.filter((scope) => filter(kindNameOf(scope))) };
  }

  /**
   * Plans a scope at once and applies what differs, as one change of its own: all or nothing where something comes, and as far as
   * possible where all of it goes. What another scope wants, too, stays; what another call is about to make is waited for.
   * {@link noteUndone} after an error that left nothing.
   * @throws PodwireError PLAN_CONFLICT; the plan's error, the engine's, or the signal's reason
   */
  async applyScope(scope: Scope, { namespace, ...options }: ApplyScopeOptions): Promise<void> {
    const owner = { owner: this.ownerOf(scope), ...compact({ namespace }) };
    for (;;) {
      const changes = this.planner.planNow(scope);
      this.#refuseConflict(scope);
      await applyAtOnce(this.planner, changes, { ...options, owner });
      if (this.planner.isInForce([scope])) return;
      await this.planner.changed(options.signal);
    }
  }

  /** A scope that is gone has left nothing: a call for it has failed and was undone. */
  noteUndone(scope: Scope): void {
    // Something that another scope wants, too, is for that one's call.
    const gone = this.planner.planNow(scope).filter(({ add }) => add === undefined);
    this.planner.succeed(this.planner.begin(gone));
  }

  #refuseConflict(scope: Scope): void {
    if (this.planner.conflictCount === 0) return;
    const lost = this.planner.conflicts().find(({ losers }) => losers.includes(scope));
    if (lost !== undefined) throw new PodwireError('PLAN_CONFLICT', lost.message);
  }

  /**
   * Resolves when everything that these scopes want is there. Plans and applies what is not, without a queue: beside {@link follow},
   * whose changes under way it waits for.
   * @throws the plan's error, the engine's, one that names a lost conflict or an unknown scope, or the signal's reason
   */
  async ensure(scopes: readonly Scope[], { engine, signal }: FollowOptions): Promise<void> {
    if (this.#areInForce(scopes)) return;
    for (const kind of new Set(scopes.map((scope) => this.#kindOf(scope))))
      if (kind.list !== undefined) this.planner.planNow(kind.kind);
    for (;;) {
      for (const scope of scopes) await this.#applyNow(scope, { engine, signal });
      if (this.planner.isInForce(scopes)) return;
      // Another call is about to make something of it. Should that fail, it is for this one.
      await this.planner.changed(signal);
    }
  }

  #areInForce(scopes: readonly Scope[]): boolean {
    try {
      return scopes.every((scope) => this.#isListed(scope)) && this.planner.isInForce(scopes);
    } catch {
      // An earlier attempt has failed; there is another one now.
      return false;
    }
  }

  async #applyNow(scope: Scope, options: FollowOptions): Promise<void> {
    if (!this.#isListed(scope)) throw new RangeError(`there is no ${this.ownerOf(scope)}`);
    const changes = this.planner.planNow(scope);
    this.#report([scope]);
    await this.#apply(changes, options);
  }

  /** Notes of each scope how it has ended. */
  async #apply(
    changes: readonly PlannedChange<Resource>[],
    { engine, signal }: FollowOptions,
  ): Promise<ApplyOutcome> {
    const ownerOf = (scope: Scope): OwnerId => this.ownerOf(scope);
    const outcome = await applyChanges(this.planner, changes, { engine, signal, log: this.#log, ownerOf });
    for (const { scope } of changes) this.#noteApplied(scope, outcome.failed);
    return outcome;
  }

  /** Lists what has to be there, by owner. */
  owned(filter: KindFilter = isAny): Owned[] {
    return this.#scopesOf(filter)
      .map((scope) => ({ owner: this.ownerOf(scope), resources: this.planner.resourcesOf(scope) }))
      .filter(({ resources }) => resources.length > 0);
  }

  /** The engine's name of a scope. */
  ownerOf(scope: Scope): OwnerId {
    return this.#kindOf(scope).ownerOf(idOf(scope));
  }

  /** Scopes that could not be planned or applied, with the error. */
  problems(filter: KindFilter = isAny): Map<Scope, unknown> {
    const all = [...this.#applyErrors, ...this.#planErrors];
    return new Map(all.filter(([scope]) => filter(kindNameOf(scope))));
  }

  problemOf(scope: Scope): unknown {
    return this.#planErrors.get(scope) ?? this.#applyErrors.get(scope);
  }

  /**
   * A reconcile has put in order what {@link owned} lists, but for some owners. Nothing was planned since.
   * @param failed the owners that are not in order, and why
   */
  noteReconciled(failed: ReadonlyMap<OwnerId, unknown>, filter: KindFilter = isAny): void {
    const scopes = this.#scopesOf(filter);
    const errors = new Map(scopes.map((scope) => [scope, failed.get(this.ownerOf(scope))] as const));
    const inOrder = scopes.filter((scope) => errors.get(scope) === undefined);
    this.planner.assumeApplied(inOrder);
    for (const scope of inOrder) {
      this.#applyErrors.delete(scope);
      // It may be possible now.
      if (this.#planErrors.has(scope)) this.planner.markScope(scope);
    }
    for (const [scope, error] of errors) if (error !== undefined) this.#applyErrors.set(scope, error);
  }

  /**
   * Holds everything that is planned against what is there: repairs it, and prunes what no scope wants. Not beside
   * {@link follow}.
   * @throws PodwireError when it could not be done at all; failures of single resources are in the list
   */
  async reconcile({ engine, signal, ...options }: ReconcileOptions): Promise<readonly Change[]> {
    await this.plan(signal);
    const round = engine.startReconcile(() => this.owned());
    const changes = await round.repair(this.owned(), { signal });
    this.noteReconciled(failuresOf(changes));
    return [...changes, ...(await round.finish({ signal, ...options }))];
  }

  #plan(scope: Scope, read: Read): ReturnType<AnyKind['plan']> {
    const kind = this.#kindOf(scope);
    if (isListOf(scope, kind)) return this.#list(kind, kind.list(read));
    const planned = this.#isListed(scope) ? kind.plan(idOf(scope), read) : undefined;
    this.#planErrors.delete(scope);
    // Something of a scope that is gone can't be missing.
    if (planned === undefined) this.#applyErrors.delete(scope);
    return planned;
  }

  /** Scopes of a kind that does not list them exist when their plan says so. */
  #isListed(scope: Scope): boolean {
    const { kind, list } = this.#kindOf(scope);
    return list === undefined || this.#listed.get(kind)?.has(idOf(scope)) === true;
  }

  /** The list of a kind's scopes is a plan itself, of a scope with the name of the kind: it has no resources. */
  #list({ kind }: AnyKind, ids: Iterable<string>): readonly [] {
    const [before, now] = [this.#listed.get(kind) ?? new Set<string>(), new Set(ids)];
    this.#listed.set(kind, now);
    for (const id of now) if (!before.has(id)) this.planner.markScope(`${kind}/${id}`);
    for (const id of before) if (!now.has(id)) this.planner.markScope(`${kind}/${id}`);
    return [];
  }

  /** Written down before anything is applied: what may be there is known to the next life of the process. */
  #report(scopes: readonly Scope[]): void {
    this.#revision++;
    for (const [kind, group] of groupBy(scopes, (scope) => this.#kindOf(scope))) {
      const { memory } = kind;
      const planned = group.map(
        (scope) => [scope, this.#describeRun(scope, memory?.read(idOf(scope)))] as const,
      );
      if (memory !== undefined) this.#remember(memory, planned);
      for (const [scope, run] of planned) if (!isListOf(scope, kind)) kind.onPlanned?.(idOf(scope), run);
    }
  }

  #describeRun(scope: Scope, fact: unknown): PlannedScope<unknown> {
    return this.#planErrors.has(scope) ? { fact, error: this.#planErrors.get(scope) } : { fact };
  }

  #noteApplied(scope: Scope, failed: ReadonlyMap<Scope, unknown>): void {
    if (failed.has(scope)) this.#applyErrors.set(scope, failed.get(scope));
    else this.#applyErrors.delete(scope);
  }

  #remember(
    { journal }: Memory<unknown>,
    planned: readonly (readonly [Scope, PlannedScope<unknown>])[],
  ): void {
    for (const [scope, { fact }] of planned) {
      if (fact === undefined) this.#gone.add(scope);
      else this.#gone.delete(scope);
    }
    // Where a plan fails, what an older fact has led to stays, and so does that fact.
    const known = planned.filter(([, { fact, error }]) => fact !== undefined && error === undefined);
    journal?.note(known.map(([scope, { fact }]) => [idOf(scope), fact]));
  }

  #forgetGone(filter: KindFilter): void {
    const gone = [...this.#gone].filter((scope) => filter(kindNameOf(scope)));
    for (const [{ memory }, scopes] of groupBy(gone, (scope) => this.#kindOf(scope)))
      memory!.journal?.note(scopes.map((scope) => [idOf(scope), undefined]));
    for (const scope of gone) this.#gone.delete(scope);
  }

  #recall(kind: string, { read }: Memory<unknown>, id: string): unknown {
    return this.#adopting?.kind === kind ? this.#adopting.found.get(id) : read(id);
  }

  #scopesOf(filter: KindFilter): Scope[] {
    return [...this.planner.scopes].filter((scope) => filter(kindNameOf(scope)));
  }

  #kindOf(scope: Scope): AnyKind {
    const kind = this.#kinds.get(kindNameOf(scope));
    if (kind === undefined) throw new RangeError(`no scopes of kind ${kindNameOf(scope)} are registered`);
    return kind;
  }
}

function addFacts<F>(all: Record<string, F>, more: Readonly<Record<string, F>>): void {
  for (const [kind, fact] of Object.entries(more)) {
    if (kind in all) throw new RangeError(`facts of kind ${kind} are registered already`);
    all[kind] = fact;
  }
}

const isListOf = (scope: Scope, kind: AnyKind): kind is AnyKind & Required<Pick<AnyKind, 'list'>> =>
  kind.list !== undefined && scope === kind.kind;

const isAny: KindFilter = () => true;
