/**
 * The other nodes: what the kernel must have to reach their pods. A peer goes when its node object goes, and not when its lease ends:
 * the pods of a node that is cut off from the store still work.
 */
import type { DesiredState, FollowOutcome, ScopeKind } from '@podwire/desired-state';
import { describeError } from '@podwire/errors';
import type { CallOptions, Engine } from '@podwire/engine';
import type { PeerView } from '@podwire/network-contract';
import type { Scope } from '@podwire/planner';
import type { Log } from '@podwire/platform';
import { besideNode } from '../node/scope-kinds.js';
import type { PeerJournal } from './peer-journal.js';
import { planPeer } from './peer-plan.js';

export interface PeersOptions {
  /** Gets a scope for each peer. Their plans read the fact `sides-for-peers` besides the peer itself. */
  readonly desired: DesiredState;
  /** As the store has it; undefined when there is no such node (any more). */
  readonly viewOf: (name: string) => PeerView | undefined;
  readonly journal: PeerJournal;
  /** Reports if the store has listed all nodes. */
  readonly isSynced: () => boolean;
  /** {@link Peers.areKnown} has become true. */
  readonly onKnown: () => void;
  readonly log: Log;
}

const kind = 'peer';
const scopeOf = (name: string): Scope => `${kind}/${name}`;
const nameOf = (scope: Scope): string => scope.slice(kind.length + 1);
const ownerOf = (name: string): string => `${kind}:${name}`;

/** Outside clusters there are no peers; plans of models may ask for them all the same. */
export const noPeers: ScopeKind = {
  kind,
  plan: () => undefined,
  ownerOf,
  sources: { peers: () => new Set(), peer: () => undefined },
};

export class Peers {
  readonly #options: PeersOptions;
  readonly #known = new Map<string, PeerView>();
  readonly #conflicts = new Set<string>();
  #areKnown: boolean;

  constructor(options: PeersOptions) {
    const { desired, journal, viewOf } = options;
    this.#options = options;
    this.#areKnown = journal.isComplete;
    desired.register<PeerView>({
      kind,
      plan(name, read) {
        const view = read(`peer/${name}`);
        return view === undefined ? undefined : planPeer(read('sides-for-peers'), view);
      },
      ownerOf,
      sources: { peers: () => new Set(this.#known.keys()) },
      memory: { journal, read: viewOf },
      onPlanned: (name, { fact, error }) => this.#notePlanned(name, fact, error),
    });
  }

  /** By name: what is applied, or is about to be. */
  get known(): ReadonlyMap<string, PeerView> {
    return this.#known;
  }

  /** True once all peers are known: until then anything in the kernel may lead to a peer, and must stay. */
  get areKnown(): boolean {
    return this.#areKnown;
  }

  /** Why the peer could not be planned or applied. */
  problemOf(name: string): string | undefined {
    const error = this.#options.desired.problemOf(scopeOf(name));
    return error === undefined ? undefined : describeError(error);
  }

  /** How many things in the kernel lead to the peer. */
  sizeOf(name: string): number {
    return this.#options.desired.planner.sizeOf(scopeOf(name));
  }

  /** It is planned again by the next {@link flush}. */
  markChanged(name: string): void {
    this.#options.desired.planner.markScope(scopeOf(name));
  }

  /**
   * Removes and applies what has changed of peers, and of what else is planned beside the node's own part. The caller keeps reconcile
   * out meanwhile. @throws the signal's reason
   */
  async flush(engine: Engine, { signal }: CallOptions): Promise<void> {
    const { desired, isSynced, onKnown } = this.#options;
    // Changes that arrive from the store while this runs are not in this list.
    const isAll = isSynced();
    this.#report(await desired.follow({ engine, signal }, besideNode));
    if (!isAll || this.#areKnown) return;
    this.#areKnown = true;
    onKnown();
  }

  /** Takes over the result of the last run as planned now, without applying it. Once, before the first reconcile. */
  adopt(): void {
    this.#options.desired.adopt(kind);
  }

  /** Scopes that want different things at one key of the kernel, in words that begin with a code. */
  conflicts(): string[] {
    return this.#options.desired.planner.conflicts().map(({ key, winner, losers }) => {
      const names = [winner, ...losers].map(describeScope);
      return `PLAN_CONFLICT: ${key}: ${names.join(' and ')} need it differently; ${names[0]!} has it`;
    });
  }

  #notePlanned(name: string, view: PeerView | undefined, err: unknown): void {
    if (view === undefined) this.#known.delete(name);
    else this.#known.set(name, view);
    this.#options.desired.planner.noteMembers('peers', [name]);
    if (err !== undefined) this.#options.log.error({ err, peer: name }, 'a peer cannot be reached');
  }

  #report({ planned, added, removed }: FollowOutcome): void {
    const conflicts = this.conflicts();
    for (const conflict of conflicts)
      if (!this.#conflicts.has(conflict)) this.#options.log.warn({ conflict }, 'plans exclude each other');
    this.#conflicts.clear();
    for (const conflict of conflicts) this.#conflicts.add(conflict);
    if (added + removed === 0) return;
    const names = planned.filter((scope) => scope.startsWith(`${kind}/`)).map(nameOf);
    const who = names.length <= 4 ? { peers: names } : { peers: names.length };
    this.#options.log.info({ ...who, added, removed }, 'paths to peers have changed');
  }
}

function describeScope(scope: Scope): string {
  if (scope === 'node') return 'this node';
  return scope.startsWith(`${kind}/`) ? `node ${nameOf(scope)}` : scope;
}
