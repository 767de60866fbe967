import type { Clock, Log } from '@podwire/platform';
import type { StoreSpec } from '../contract.js';

export type EtcdSpec = Extract<StoreSpec, { kind: 'etcd' }>;

/** Milliseconds. */
export interface EtcdTimeouts {
  /** Until a member must have taken a connection; 2 s. */
  readonly connect: number;
  /** After which a question is put to another member, where there is one; 3 s. */
  readonly attempt: number;
  /** A whole call, with all repetitions; 8 s: etcd itself times out after 7. */
  readonly call: number;
  /** Silence on a connection with a watch before a keep-alive ping; 10 s. etcd allows no less than 5. */
  readonly silence: number;
}

export interface EtcdOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** From 0 up to 1, as Math.random: which endpoint is first, and how long pauses are. */
  readonly random?: () => number;
  readonly timeouts?: Partial<EtcdTimeouts>;
}

export const usualTimeouts: EtcdTimeouts = { connect: 2_000, attempt: 3_000, call: 8_000, silence: 10_000 };
