/** Which workload a pod belongs to, and which addresses workloads keep. Updated workload by workload from the cluster cache. */
import { formatAddress, parseAddress } from '@podwire/addresses';
import type { ClusterCache, Keys, Stored, Workload } from '@podwire/cluster-state';
import type { PodName } from '../contract.js';

export interface WorkloadIndexOptions {
  readonly cache: Pick<ClusterCache, 'workloads'>;
  readonly keys: Keys;
  /** Another workload keeps the address now, or none. */
  readonly onKeep: (network: string, address: string, workload: string | undefined) => void;
}

interface Known {
  readonly workload: Workload;
  readonly kept: readonly string[];
}

export const nameOf = ({ namespace, name }: Workload): string => `${namespace}/${name}`;

const none: ReadonlyMap<string, string> = new Map();

export class WorkloadIndex {
  readonly #options: WorkloadIndexOptions;
  readonly #known = new Map<string, Known>();
  /** By network and namespace: keys of the workloads whose name is a prefix (`web-*`). */
  readonly #prefixes = new Map<string, Set<string>>();
  /** By network: address to workload. */
  readonly #keepers = new Map<string, Map<string, string>>();
  /** By network and address: keys of the workloads that keep it; two while one replaces the other. */
  readonly #claims = new Map<string, Set<string>>();

  constructor(options: WorkloadIndexOptions) {
    this.#options = options;
  }

  /** @param keys of workloads that were added, changed or deleted */
  update(keys: Iterable<string>): void {
    for (const key of keys) this.#updateOne(key);
  }

  /** The workload with the pod's name, or else the one with the longest prefix of it. */
  of(network: string, { namespace, name }: PodName): Stored<Workload> | undefined {
    if (this.#known.size === 0) return undefined;
    const { cache, keys } = this.#options;
    const exact = cache.workloads.get(keys.workload(network, namespace, name));
    if (exact !== undefined) return exact;
    let best: Stored<Workload> | undefined;
    for (const key of this.#prefixes.get(spaceOf({ network, namespace })) ?? []) {
      const stored = cache.workloads.get(key);
      const isLonger = best === undefined || (stored?.value.name.length ?? 0) > best.value.name.length;
      if (stored !== undefined && isLonger && name.startsWith(stored.value.name.slice(0, -1))) best = stored;
    }
    return best;
  }

  /** The workload that has the static address, or keeps it for one of its sticky pods. */
  keeperOf(network: string, address: string): string | undefined {
    return this.#keepers.get(network)?.get(address);
  }

  kept(network: string): ReadonlyMap<string, string> {
    return this.#keepers.get(network) ?? none;
  }

  #updateOne(key: string): void {
    const before = this.#known.get(key);
    if (before !== undefined) this.#forget(key, before);
    const workload = this.#options.cache.workloads.get(key)?.value;
    const now = workload && { workload, kept: addressesOf(workload) };
    if (now !== undefined) {
      this.#known.set(key, now);
      if (now.workload.name.endsWith('*')) this.#addPrefix(now.workload, key);
    }
    const still = new Set(now?.kept);
    for (const address of before?.kept ?? [])
      if (!still.has(address)) this.#claim(key, before!, address, false);
    for (const address of still) this.#claim(key, now!, address, true);
  }

  #forget(key: string, { workload }: Known): void {
    this.#known.delete(key);
    this.#prefixes.get(spaceOf(workload))?.delete(key);
  }

  #addPrefix(workload: Workload, key: string): void {
    const space = spaceOf(workload);
    const known = this.#prefixes.get(space);
    if (known === undefined) this.#prefixes.set(space, new Set([key]));
    else known.add(key);
  }

  /** The latest of several workloads keeps the address. */
  #claim(key: string, { workload: { network } }: Known, address: string, isKept: boolean): void {
    const place = `${network} ${address}`;
    const all = this.#claims.get(place) ?? new Set();
    this.#claims.set(place, all);
    if (isKept) all.add(key);
    else all.delete(key);
    if (all.size === 0) this.#claims.delete(place);
    const last = [...all].at(-1);
    this.#keep(network, address, last === undefined ? undefined : nameOf(this.#known.get(last)!.workload));
  }

  #keep(network: string, address: string, workload: string | undefined): void {
    const kept = this.#keepers.get(network) ?? new Map<string, string>();
    this.#keepers.set(network, kept);
    if (kept.get(address) === workload) return;
    if (workload === undefined) kept.delete(address);
    else kept.set(address, workload);
    this.#options.onKeep(network, address, workload);
  }
}

const spaceOf = ({ network, namespace }: Pick<Workload, 'network' | 'namespace'>): string =>
  `${network} ${namespace}`;

function addressesOf({ addresses, assigned, sticky }: Workload): string[] {
  const all = [...addresses, ...(sticky ? Object.values(assigned).flat() : [])];
  return [...new Set(all.map((text) => formatAddress(parseAddress(text))))];
}
