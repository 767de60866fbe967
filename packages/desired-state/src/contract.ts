/** Types of a desired state and of its users. */
import type {
  CallOptions,
  Engine,
  KindRegistry,
  NamespaceIdentity,
  OwnerId,
  Resource,
} from '@podwire/engine';
import type { ApplyOutcome, Derivations, FactSources, Journal, Plan, Read, Scope } from '@podwire/planner';
import type { Log } from '@podwire/platform';

export interface DesiredStateOptions {
  readonly kinds: KindRegistry;
  readonly log: Log;
}

/** Scopes of one kind: `node`, or all `peer/NAME`. `T` is the fact that they are planned from, where that is remembered. */
export interface ScopeKind<T = never> {
  /** The name of the scope, or the part of it before the slash. */
  readonly kind: string;
  /**
   * A pure function. `undefined`: the scope does not exist (any more).
   * @param id the part of the scope's name after the slash; empty where there is none
   */
  readonly plan: (id: string, read: Read) => ReturnType<Plan<Resource>>;
  /**
   * Ids of all scopes of the kind. Pure: it runs again when something that it has read changes. Absent: the caller marks scopes as they
   * come, change and go.
   */
  readonly list?: (read: Read) => Iterable<string>;
  /** The engine's name of the scope. */
  readonly ownerOf: (id: string) => OwnerId;
  /** Facts that the plans of these scopes read, and that no other kind has brought. */
  readonly sources?: FactSources;
  readonly derivations?: Derivations;
  readonly memory?: Memory<T>;
  /** Called after each run of a plan by {@link DesiredState.follow} or {@link DesiredState.adopt}. */
  readonly onPlanned?: (id: string, planned: PlannedScope<T>) => void;
}

/**
 * A fact for each scope, under the scope's own name, that outlives the process: an agent that starts while its source is
 * away finds there what in the system is its own.
 */
export interface Memory<T> {
  /** Absent where facts are written down elsewhere before they are planned from. */
  readonly journal?: Pick<Journal<T>, 'found' | 'note'>;
  /** The fact as its source has it now. `undefined`: there is no such scope (any more). */
  readonly read: (id: string) => T | undefined;
}

/** One run of a plan. */
export interface PlannedScope<T> {
  /** Where the kind has a memory: the fact that it was planned from. */
  readonly fact?: T | undefined;
  /** The plan has thrown this: what the scope had before stays. */
  readonly error?: unknown;
}

/** Selects scopes by the name of their kind. */
export type KindFilter = (kind: string) => boolean;

export interface FollowOptions {
  readonly engine: Pick<Engine, 'change'>;
  readonly signal: AbortSignal;
}

export interface ApplyScopeOptions extends CallOptions {
  readonly engine: Pick<Engine, 'change'>;
  /** Of its `pod` place. */
  readonly namespace?: NamespaceIdentity;
}

export interface FollowOutcome extends ApplyOutcome {
  /** Scopes that were planned. */
  readonly planned: readonly Scope[];
}

export interface ReconcileOptions {
  readonly engine: Pick<Engine, 'startReconcile'>;
  readonly signal: AbortSignal;
  /** Things that no scope wants stay: not all scopes are known yet. */
  readonly keepLeftovers?: boolean;
}
