/** Work on a cluster's store: opened, interruptible, closed. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import { silentLog, systemClock } from '@podwire/platform';
import type { Command } from 'commander';
import { withInterrupt } from '../interrupt.js';
import type { Io } from '../io.js';
import { type ClusterPlace, requireCluster } from './options.js';

export type ClusterWork<T> = (access: ClusterAccess, signal: AbortSignal) => Promise<T>;

/** @throws PodwireError CONFIG_INVALID, also where there is no store; STORE_UNAVAILABLE; InterruptedError */
export async function withStore<T>(command: Command, io: Io, work: ClusterWork<T>): Promise<T> {
  return withStoreAt(await requireCluster(command, io), io, work);
}

/** For commands that a cluster may begin with: an embedded store that is not there is made. */
export async function withNewStore<T>(command: Command, io: Io, work: ClusterWork<T>): Promise<T> {
  return withStoreAt(await requireCluster(command, io), io, work, true);
}

export async function withStoreAt<T>(
  { spec, root }: ClusterPlace,
  io: Io,
  work: ClusterWork<T>,
  create = false,
): Promise<T> {
  const [{ hostOfEndpoint, openStore }, { keysBelow }, { tryParseAddress }] = await Promise.all([
    import('@podwire/store'),
    import('@podwire/cluster-state'),
    import('@podwire/addresses'),
  ]);
  const clock = io.cluster?.clock ?? systemClock;
  const store = await (io.cluster?.openStore ?? openStore)(spec, { log: silentLog, clock, create });
  try {
    const hosts = 'endpoints' in spec ? spec.endpoints.map(hostOfEndpoint) : [];
    // Names are the nodes' business: they look them up all the time.
    const storeAddresses = hosts.filter((host) => tryParseAddress(host) !== undefined);
    const access = { store, keys: keysBelow(root), clock, storeAddresses };
    return await withInterrupt((signal) => work(access, signal));
  } finally {
    await store.close();
  }
}
