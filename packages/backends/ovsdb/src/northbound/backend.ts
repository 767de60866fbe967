import type { Backend } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { createBackendOn, PATIENCE } from '../rows/backend.js';
import { DatabaseLink } from '../rows/link.js';
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
}

/** @param client of the database `OVN_Northbound`; it is closed with the backend */
export function createNorthboundBackend(
  client: OvsdbClient,
  { patience = PATIENCE }: NorthboundOptions = {},
): NorthboundBackend {
  const link = new DatabaseLink(client, northboundDatabase);
  const barrier = new Barrier(link, patience);
  const backend = createBackendOn(link, { name: NORTHBOUND, kinds: Object.values(northboundKinds) });
  return { ...backend, settle: (reach, options) => barrier.settle(reach, options) };
}
