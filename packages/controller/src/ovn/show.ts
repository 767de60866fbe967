/** One look at the logical network, beside what is in the northbound database. Changes nothing. */
import { ClusterMemory, planOvnCluster } from '@podwire/cluster-ovn';
import { keysBelow } from '@podwire/cluster-state';
import { OvsdbClient } from '@podwire/ovsdb';
import { type Clock, type Log } from '@podwire/platform';
import { openStore, type StoreSpec } from '@podwire/store';
import { LogicalNetwork } from './logical-network.js';
import { checkEndpoints } from './ovn-controller.js';
import { describeNetwork, type NetworkReport } from './report.js';

export interface ShowOptions {
  readonly store: StoreSpec;
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
  readonly northbound: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** @throws PodwireError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_DENIED; BACKEND_SILENT without the database */
export async function showLogicalNetwork(options: ShowOptions): Promise<NetworkReport> {
  const { store: spec, root, northbound, clock, log, signal } = options;
  checkEndpoints(northbound);
  const store = await openStore(spec, { log, clock });
  const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints: northbound });
  const network = new LogicalNetwork(client, log);
  try {
    const memory = new ClusterMemory({ store, keys: keysBelow(root), clock });
    await memory.list(signal);
    const { facts, problems } = planOvnCluster(memory.view(), { defaults: [], encapsulation: 'geneve' });
    network.take(facts);
    const drift = await network.findDrift(signal);
    return describeNetwork(facts, drift, problems);
  } finally {
    await network.close();
    await store.close();
  }
}
