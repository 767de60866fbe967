/** One look at the logical network, beside what is in the northbound database. Changes nothing. */
import { OvsdbClient } from '@podwire/ovsdb';
import { openStore } from '@podwire/store';
import { LogicalNetwork } from './logical-network.js';
import { checkEndpoints } from './ovn-controller.js';
import { type LookOptions, readPlan } from './read-facts.js';
import { describeNetwork, type NetworkReport } from './report.js';

export interface ShowOptions extends LookOptions {
  readonly northbound: readonly string[];
}

/** @throws PodwireError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_DENIED; BACKEND_SILENT without the database */
export async function showLogicalNetwork(options: ShowOptions): Promise<NetworkReport> {
  const { store: spec, northbound, clock, log, signal } = options;
  checkEndpoints(northbound);
  const store = await openStore(spec, { log, clock });
  const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints: northbound });
  const network = new LogicalNetwork(client, log);
  try {
    const { facts, problems } = await readPlan(store, options);
    network.take(facts);
    const drift = await network.findDrift(signal);
    return describeNetwork(facts, drift, problems);
  } finally {
    await network.close();
    await store.close();
  }
}
