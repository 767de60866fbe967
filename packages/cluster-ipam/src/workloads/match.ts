/** Which workload a pod belongs to, and which addresses workloads keep. Follows the cache workload by workload. */
import { formatAddress, parseAddress } from '@podwire/addresses';
import type { ClusterCache, Keys, Stored, Workload } from '@podwire/cluster-state';
import type { PodName } from '../contract.js';

export interface WorkloadIndex {
  /** @param keys of workloads that have come, changed or gone */
  take(keys: Iterable<string>): void;
  /** The one that names the pod; or else the longest beginning of its name. */
  of(network: string, pod: PodName): Stored<Workload> | undefined;
  /** The workload whose static address it is, or for one of whose sticky pods it is kept. */
  keeperOf(network: string, address: string): string | undefined;
  /** What is kept of a network. */
  kept(network: string): ReadonlyMap<string, string>;
}

export interface WorkloadIndexOptions {
  readonly cache: Pick<ClusterCache, 'workloads'>;
  readonly keys: Keys;
  /** Somebody else keeps the address now, or nobody. */
  readonly onKeep: (network: string, address: string, workload: string | undefined) => void;
}

interface Known {
  readonly workload: Workload;
  readonly kept: readonly string[];
}

export const nameOf = ({ namespace, name }: Workload): string => `${namespace}/${name}`;

export function createWorkloadIndex({ cache, keys, onKeep }: WorkloadIndexOptions): WorkloadIndex {
  const known = new Map<string, Known>();
  /** By network and namespace: keys of those that mean beginnings of names. */
  const beginnings = new Map<string, Set<string>>();
  /** By network: address to workload. */
  const keepers = new Map<string, Map<string, string>>();
  /** By network and address: keys of the workloads that keep it, which are two while one takes over from the other. */
  const claims = new Map<string, Set<string>>();
  const spaceOf = ({ network, namespace }: { network: string; namespace: string }): string =>
    `${network} ${namespace}`;

  function forget(key: string): void {
    const before = known.get(key);
    if (before === undefined) return;
    known.delete(key);
    beginnings.get(spaceOf(before.workload))?.delete(key);
  }

  function keep(network: string, address: string, workload: string | undefined): void {
    const kept = keepers.get(network) ?? new Map<string, string>();
    keepers.set(network, kept);
    if (kept.get(address) === workload) return;
    if (workload === undefined) kept.delete(address);
    else kept.set(address, workload);
    onKeep(network, address, workload);
  }

  /** Of several the one that came last keeps it. */
  function claim(key: string, { workload: { network } }: Known, address: string, isKept: boolean): void {
    const place = `${network} ${address}`;
    const all = claims.get(place) ?? new Set();
    claims.set(place, all);
    if (isKept) all.add(key);
    else all.delete(key);
    if (all.size === 0) claims.delete(place);
    const last = [...all].at(-1);
    keep(network, address, last === undefined ? undefined : nameOf(known.get(last)!.workload));
  }

  function takeOne(key: string): void {
    const before = known.get(key);
    forget(key);
    const workload = cache.workloads.get(key)?.value;
    const now = workload && { workload, kept: addressesOf(workload) };
    if (now !== undefined) {
      known.set(key, now);
      if (now.workload.name.endsWith('*')) addBeginning(now.workload, key);
    }
    const still = new Set(now?.kept);
    for (const address of before?.kept ?? []) if (!still.has(address)) claim(key, before!, address, false);
    for (const address of still) claim(key, now!, address, true);
  }

  function addBeginning(workload: Workload, key: string): void {
    const space = spaceOf(workload);
    const there = beginnings.get(space);
    if (there === undefined) beginnings.set(space, new Set([key]));
    else there.add(key);
  }

  return {
    take(changed) {
      for (const key of changed) takeOne(key);
    },
    of(network, { namespace, name }) {
      if (known.size === 0) return undefined;
      const exact = cache.workloads.get(keys.workload(network, namespace, name));
      if (exact !== undefined) return exact;
      let best: Stored<Workload> | undefined;
      for (const key of beginnings.get(spaceOf({ network, namespace })) ?? []) {
        const stored = cache.workloads.get(key);
        const isLonger = best === undefined || (stored?.value.name.length ?? 0) > best.value.name.length;
        if (stored !== undefined && isLonger && name.startsWith(stored.value.name.slice(0, -1)))
          best = stored;
      }
      return best;
    },
    keeperOf: (network, address) => keepers.get(network)?.get(address),
    kept: (network) => keepers.get(network) ?? none,
  };
}

const none: ReadonlyMap<string, string> = new Map();

function addressesOf({ addresses, assigned, sticky }: Workload): string[] {
  const all = [...addresses, ...(sticky ? Object.values(assigned).flat() : [])];
  return [...new Set(all.map((text) => formatAddress(parseAddress(text))))];
}
