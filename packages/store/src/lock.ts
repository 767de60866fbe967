/** Locks and leader election over any store: an item that is created once and goes with its holder's lease. */
import type { Clock, Log } from '@podwire/rim';
import type { Revision, Store } from './contract.js';

export interface HolderOptions {
  /** Written into the item, for people and for error messages. */
  readonly holder: string;
  /** Milliseconds after which a holder that died has lost it. */
  readonly ttl: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Lock {
  /** The revision at which it was taken; grows from holder to holder. Use it as a condition of what the holder writes. */
  readonly fence: Revision;
  /** Aborts when it is lost: the lease ended, or could not be kept alive in time by the own monotonic clock. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export interface Candidate extends HolderOptions {
  readonly store: Store;
  readonly key: string;
  /** Works until its signal aborts. When it returns or throws by itself, the leadership is given up and sought again. */
  readonly lead: (lock: Lock) => Promise<void>;
}
