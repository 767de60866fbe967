import type { Backend } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { withDeadline } from '@podwire/platform';
import { silentError } from '../errors.js';
import { createBackendOn, PATIENCE } from '../rows/backend.js';
import { DatabaseLink } from '../rows/link.js';
import { claim } from './claim.js';
import { Barrier, type Reach, type SettleOptions } from './barrier.js';
import { NORTHBOUND, northboundKinds } from './kinds.js';
import { northboundDatabase } from './tables.js';

export interface NorthboundOptions {
  /** Milliseconds that {@link NorthboundBackend.settle} takes at most; 5 s when absent. */
  readonly patience?: number;
}

export interface NorthboundBackend extends Backend {
  /**
   * Resolves when all that was in the database before the call is at work there.
   * @throws PodwireError BACKEND_SILENT; the signal's reason
   */
  settle(reach: Reach, options: SettleOptions): Promise<void>;
  /**
   * Makes this the only one of all backends with a writer whose changes pass. Those of others, and of this one after another
   * claim, fail with STORE_CONFLICT. Nothing is written where it is so already.
   * @param writer a name that no other process has, and no other life of it
   * @throws PodwireError BACKEND_SILENT; the signal's reason
   */
  claim(writer: string, options: Pick<SettleOptions, 'signal'>): Promise<void>;
}

/** @param client of the database `OVN_Northbound`; it is closed with the backend */
export function createNorthboundBackend(
  client: OvsdbClient,
  { patience = PATIENCE }: NorthboundOptions = {},
): NorthboundBackend {
  const link = new DatabaseLink(client, northboundDatabase);
  const reason = (): Error =>
    silentError(northboundDatabase.database, new Error(`no answer within ${patience} ms`));
  const barrier = new Barrier(link, patience);
  const backend = createBackendOn(link, { name: NORTHBOUND, kinds: Object.values(northboundKinds) });
  return {
    ...backend,
    settle: (reach, options) => barrier.settle(reach, options),
    claim: (writer, { signal }) =>
      withDeadline(signal, patience, (either) => claim(link, writer, either), { reason }),
  };
}
