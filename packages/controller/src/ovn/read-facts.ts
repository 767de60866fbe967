/** One look at the objects of Kube-OVN, and the logical network that they want. Changes nothing. */
import { ClusterMemory, type OvnPlan, planOvnCluster } from '@podwire/cluster-ovn';
import { keysBelow } from '@podwire/cluster-state';
import { type Clock, type Log } from '@podwire/platform';
import { openStore, type Store, type StoreSpec } from '@podwire/store';
import { listPlaces, type LogicalPlaces } from './places.js';

export interface LookOptions {
  readonly store: StoreSpec;
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED */
export async function readPlan(
  store: Store,
  { root, clock, signal }: Pick<LookOptions, 'root' | 'clock' | 'signal'>,
): Promise<OvnPlan> {
  const memory = new ClusterMemory({ store, keys: keysBelow(root), clock });
  await memory.list(signal);
  return planOvnCluster(memory.view(), { defaults: [], encapsulation: 'geneve' });
}

/** @throws PodwireError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_DENIED */
export async function readLogicalPlaces(options: LookOptions): Promise<LogicalPlaces> {
  const { store: spec, log, clock } = options;
  const store = await openStore(spec, { log, clock });
  try {
    return listPlaces((await readPlan(store, options)).facts);
  } finally {
    await store.close();
  }
}
