/** Description of a store for the suite, and the context of its cases. */
import type { Store } from '../contract.js';

/** Features that a target may lack. Cases that need it are left out: a back end lists here what it lacks. */
export type StoreFeature =
  /** A watch gives every single change; without it, several writes of one item may arrive as the last of them. */
  | 'history'
  /** `compact` of the target. */
  | 'compaction'
  /** `interrupt` of the target. */
  | 'interruption'
  /** `connectDeaf` of the target. */
  | 'lost answers';

export interface StoreTarget {
  readonly store: Store;
  /** Another client of the same store. */
  another(): Promise<Store>;
  /** The shortest a lease may be, milliseconds; 1000 by default. Cases wait for its end. */
  readonly ttl?: number;
  /** Lets time pass; by default it passes by itself. */
  pass?(milliseconds: number): Promise<void>;
  /** Makes the server forget the past. */
  compact?(): Promise<void>;
  /** Cuts `store` off, with its watches; returns how it gets back. */
  interrupt?(): Promise<() => Promise<void>>;
  /** A client whose writes are done and never answered. */
  connectDeaf?(): Promise<Store>;
  /** Ends `store` and the server; other clients are closed by then. */
  close(): Promise<void>;
}

export interface CaseContext {
  readonly store: Store;
  readonly another: () => Promise<Store>;
  readonly ttl: number;
  readonly pass: ((milliseconds: number) => Promise<void>) | undefined;
  readonly compact: (() => Promise<void>) | undefined;
  readonly interrupt: (() => Promise<() => Promise<void>>) | undefined;
  readonly connectDeaf: (() => Promise<Store>) | undefined;
  /** Where no other program writes: `/compliance/…/`. */
  readonly folder: string;
}

/** One case. Clients it opens are closed after it. */
export interface StoreCase {
  readonly title: string;
  readonly needs?: readonly StoreFeature[];
  readonly run: (context: CaseContext) => Promise<void>;
}
