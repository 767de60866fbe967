import type { Clock, Log } from '@podwire/platform';
import type { StoreSpec } from '../contract.js';

export type ConsulSpec = Extract<StoreSpec, { kind: 'consul' }>;

export interface ConsulOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Milliseconds that one endpoint has to answer, lists apart; 5 s when absent. */
  readonly deadline?: number;
}
