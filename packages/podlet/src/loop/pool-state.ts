import type { StatusSink, StepDependencies } from './dependencies.js';
import type { NameClaims } from './name-claims.js';
import type { WorkerState } from './worker-state.js';
import type { Pod } from '@podwire/pod-spec';

export interface WorkerPoolOptions {
  readonly dependencies: StepDependencies;
  readonly sink: StatusSink;
  /** While it is not so, nothing new begins. */
  readonly mayRun: () => boolean;
  readonly onChange: (worker: WorkerState) => void;
  readonly onGone: (worker: WorkerState) => void;
}

/** A worker and what drives it. */
export interface Entry {
  readonly state: WorkerState;
  readonly stop: AbortController;
  /** Of the turn under way. */
  turn: AbortController | undefined;
  running: Promise<void> | undefined;
  again: boolean;
  collect: boolean;
  /** By `clock.elapsed`. */
  dueAt: number;
  /** After an error. By `clock.elapsed`. */
  restUntil: number;
  /** Turns that followed each other at once. */
  spin: number;
}

/** Everything that the workers of one pool share. */
export interface Pool extends WorkerPoolOptions {
  readonly entries: Map<string, Entry>;
  readonly claims: NameClaims;
  closed: boolean;
  /** A pod that had to wait for its predecessor. */
  readonly begin: (pod: Pod) => void;
}
