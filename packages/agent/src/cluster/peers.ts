/**
 * The other nodes: what the kernel must have to reach their pods. A peer goes when its node object goes, and not when its lease ends:
 * the pods of a node that is cut off from the store still work.
 */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '@podwire/errors';
import type { CallOptions, Engine, KindRegistry, Owned, Resource } from '@podwire/engine';
import type { PeerView } from '@podwire/network-contract';
import { applyDifference, type ApplyOutcome, Planner, type Scope } from '@podwire/planner';
import type { Log } from '@podwire/platform';
import type { NetworkSide } from '../node/host-tables.js';
import type { PeerJournal } from './peer-journal.js';
import { planPeer } from './peer-plan.js';

declare module '@podwire/planner' {
  interface FactKinds {
    /** By the name of the node, as the store has it. */
    peer: PeerView | undefined;
    /** The node, of which every peer's plan reads besides the peer itself. */
    sides: readonly NetworkSide[];
  }
}

export interface Peer {
  readonly view: PeerView;
  /** Why it could not be planned or applied. */
  readonly problem?: string;
}

export interface PeersOptions {
  /** Of this moment, since pools and the node's own addresses change. */
  readonly sides: () => readonly NetworkSide[];
  /** As the store has it; undefined when there is no such node (any more). */
  readonly viewOf: (name: string) => PeerView | undefined;
  readonly kinds: KindRegistry;
  readonly journal: PeerJournal;
  /** Reports if the store has listed all nodes. */
  readonly isSynced: () => boolean;
  /** {@link Peers.areKnown} has become true. */
  readonly onKnown: () => void;
  readonly log: Log;
}

/** Plans between two turns of the event loop. */
const planned = 256;

const scopeOf = (name: string): Scope => `peer/${name}`;
const nameOf = (scope: Scope): string => scope.slice('peer/'.length);
const ownerOf = (scope: Scope): string => `peer:${nameOf(scope)}`;

export class Peers {
  readonly #options: PeersOptions;
  readonly #planner: Planner<Resource>;
  readonly #known = new Map<string, Peer>();
  /** Planned as gone, and perhaps not removed yet. */
  readonly #gone = new Set<string>();
  readonly #conflicts = new Set<string>();
  #sides: readonly NetworkSide[] = [];
  #sidesText = '';
  /** Instead of what the store says, while the journal is taken over. */
  #recorded: ReadonlyMap<string, PeerView> | undefined;
  #areKnown: boolean;
  #revision = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#areKnown = options.journal.isComplete;
    this.#planner = new Planner<Resource>({
      plan: (scope, read) => this.#plan(scope, read(`peer/${nameOf(scope)}`), read('sides')),
      sources: { peer: (name) => this.#viewOf(name), sides: () => this.#sides },
      keyOf: options.kinds.keyOf,
      onPlanError: (scope, err) => this.#notePlanError(nameOf(scope), err),
    });
  }

  /** By name: what is applied, or is about to be. */
  get known(): ReadonlyMap<string, Peer> {
    return this.#known;
  }

  /** True once all peers are known: until then anything in the kernel may lead to a peer, and must stay. */
  get areKnown(): boolean {
    return this.#areKnown;
  }

  /** Another number when {@link owned} may be others. */
  get revision(): number {
    return this.#revision;
  }

  /** How many things in the kernel lead to the peer. */
  sizeOf(name: string): number {
    return this.#planner.sizeOf(scopeOf(name));
  }

  /** It is planned again by the next {@link flush}. */
  markChanged(name: string): void {
    this.#planner.markScope(scopeOf(name));
  }

  /**
   * Removes and applies what has changed; when the node's own part has, what differs of every peer. The caller keeps reconcile out
   * meanwhile. @throws the signal's reason
   */
  async flush(engine: Engine, { signal }: CallOptions): Promise<void> {
    const { isSynced, journal, log, onKnown } = this.#options;
    this.#readSides();
    // Changes that arrive from the store while this runs are not in this list.
    const isAll = isSynced();
    const names = await this.#replan(signal);
    const outcome = await applyDifference(this.#planner, {
      engine,
      signal,
      log,
      ownerOf,
    });
    for (const [scope, error] of outcome.failed) this.#noteProblem(nameOf(scope), describeError(error));
    journal.note([...this.#gone].map((name) => [name, undefined]));
    this.#gone.clear();
    this.#report(names, outcome);
    if (!isAll || this.#areKnown) return;
    this.#areKnown = true;
    onKnown();
  }

  /** Resources that a reconcile must find in the kernel. */
  owned(): Owned[] {
    return [...this.#planner.scopes]
      .map((scope) => ({ owner: ownerOf(scope), resources: this.#planner.resourcesOf(scope) }))
      .filter(({ resources }) => resources.length > 0);
  }

  /** Takes over the result of the last run as planned now, without applying it. Once, before the first reconcile. */
  adopt(): void {
    this.#readSides();
    this.#recorded = this.#options.journal.found;
    this.#planner.adopt([...this.#recorded.keys()].map(scopeOf));
    this.#recorded = undefined;
  }

  /** A reconcile has put everything in order but for these owners, with what has failed in words. */
  noteReconciled(failed: ReadonlyMap<string, string>): void {
    for (const scope of [...this.#planner.scopes]) {
      const problem = failed.get(ownerOf(scope));
      if (problem !== undefined) {
        this.#noteProblem(nameOf(scope), problem);
        continue;
      }
      this.#planner.assumeApplied([scope]);
      // A peer that could not be planned may be possible now; one that could not be applied is there.
      if (this.#known.get(nameOf(scope))?.problem !== undefined) this.#planner.markScope(scope);
    }
  }

  /** Peers that want different things at one key of the kernel, in words that begin with a code. */
  conflicts(): string[] {
    return this.#planner.conflicts().map(({ key, winner, losers }) => {
      const others = losers.map(nameOf).join(', ');
      return `PLAN_CONFLICT: ${key}: nodes ${nameOf(winner)} and ${others} need it differently; ${nameOf(winner)} has it`;
    });
  }

  #viewOf(name: string): PeerView | undefined {
    return this.#recorded === undefined ? this.#options.viewOf(name) : this.#recorded.get(name);
  }

  #plan(
    scope: Scope,
    view: PeerView | undefined,
    sides: readonly NetworkSide[],
  ): readonly Resource[] | undefined {
    const name = nameOf(scope);
    this.#revision++;
    if (view === undefined) {
      this.#known.delete(name);
      this.#gone.add(name);
      return undefined;
    }
    // Before it is planned: a plan that throws is of this view.
    this.#known.set(name, { view });
    this.#gone.delete(name);
    return planPeer(sides, view);
  }

  /** Reads the common input of all plans once, and plans every peer again when it has changed. */
  #readSides(): void {
    this.#sides = this.#options.sides();
    const text = JSON.stringify(this.#sides.map(({ view }) => ({ ...view, blocks: [] })));
    if (text === this.#sidesText) return;
    this.#sidesText = text;
    this.#planner.noteChanged(['sides']);
  }

  /** @returns the peers that were planned */
  async #replan(signal: AbortSignal): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const scopes = this.#planner.replan(planned);
      const found = scopes.map(nameOf);
      names.push(...found);
      // Written first: what may be in the kernel is known to the next run.
      this.#options.journal.note(
        found.flatMap((name) => {
          const peer = this.#known.get(name);
          return peer === undefined ? [] : [[name, peer.view] as const];
        }),
      );
      if (scopes.length < planned) return names;
      await setImmediate(undefined, { signal });
    }
  }

  #notePlanError(name: string, err: unknown): void {
    this.#options.log.error({ err, peer: name }, 'a peer cannot be reached');
    this.#noteProblem(name, describeError(err));
  }

  #noteProblem(name: string, problem: string): void {
    const peer = this.#known.get(name);
    if (peer !== undefined) this.#known.set(name, { ...peer, problem });
  }

  #report(names: readonly string[], { added, removed }: ApplyOutcome): void {
    const conflicts = this.conflicts();
    for (const conflict of conflicts)
      if (!this.#conflicts.has(conflict))
        this.#options.log.warn({ conflict }, 'two peers exclude each other');
    this.#conflicts.clear();
    for (const conflict of conflicts) this.#conflicts.add(conflict);
    if (added + removed === 0) return;
    const who = names.length <= 4 ? { peers: names } : { peers: names.length };
    this.#options.log.info({ ...who, added, removed }, 'paths to peers have changed');
  }
}
