/** Assigns a workload's addresses to its pods: written into the workload by compare-and-set, so that no two pods get the same. */
import { parseAddress } from '@podwire/addresses';
import { type ClusterCache, type Stored, type Workload, workloadKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { compact, type Log } from '@podwire/platform';
import { decodeObject, encodeObject } from '@podwire/store';
import type { AllocationState } from '../affinities/allocation-state.js';
import type { ClusterStore } from '../cluster-store.js';
import type { Need, PodAddresses, PodName } from '../contract.js';
import { forEachTolerant } from '../events.js';
import type { AddressProvider } from '../provide.js';
import { nameOf, type WorkloadIndex } from './workload-index.js';

type Families = readonly (4 | 6)[];

const attempts = 16;
const familyOf = (address: string): 4 | 6 => parseAddress(address).family;

export interface WorkloadAddressesOptions {
  readonly store: ClusterStore;
  readonly cache: ClusterCache;
  readonly state: AllocationState;
  readonly workloads: WorkloadIndex;
  readonly provider: AddressProvider;
  readonly log: Log;
}

/** One that waits to be written. */
interface Assignment {
  readonly network: string;
  readonly pod: PodName;
  /** Undefined: the pod is gone. */
  readonly addresses: readonly string[] | undefined;
}

export class WorkloadAddresses {
  readonly #options: WorkloadAddressesOptions;
  /** In order; for one pod the last counts. */
  readonly #pending: Assignment[] = [];

  constructor(options: WorkloadAddressesOptions) {
    this.#options = options;
  }

  has(network: string, pod: PodName): boolean {
    return this.#options.workloads.of(network, pod) !== undefined;
  }

  /** To be written by {@link writePending}. @param addresses undefined: the pod is gone */
  note(network: string, pod: PodName, addresses: readonly string[] | undefined): void {
    this.#pending.push({ network, pod, addresses });
  }

  /** @throws as {@link NodeAddressing.addressesFor} */
  async addressesFor(
    network: string,
    pod: PodName,
    families: Families,
    signal: AbortSignal,
  ): Promise<PodAddresses | undefined> {
    this.#dropRemoval(network, pod);
    const workload = this.#options.workloads.of(network, pod)?.value;
    if (workload === undefined) return undefined;
    const requested =
      workload.addresses.length === 0 ? [] : await this.#takeStatic(network, pod, families, signal);
    const had = assignedTo(workload, pod).filter((address) => families.includes(familyOf(address)));
    const preferred = workload.sticky && requested.length === 0 ? had : [];
    for (const address of preferred) await this.#tryToProvide(workload, address, signal);
    const pools = workload.pools.length === 0 ? undefined : workload.pools;
    return compact({ requested, preferred, workload: nameOf(workload), pools });
  }

  /** An earlier pod of this name has ended, which is not written yet: its addresses are this pod's. */
  #dropRemoval(network: string, pod: PodName): void {
    const at = this.#pending.findIndex(
      (each) => each.addresses === undefined && samePod(each, { network, pod }),
    );
    if (at >= 0) this.#pending.splice(at, 1);
  }

  /** The earlier address of a sticky pod, if it is available; else the pod gets another one. */
  async #tryToProvide(workload: Workload, address: string, signal: AbortSignal): Promise<void> {
    const { provider, log } = this.#options;
    try {
      await provider.provide(needOf(workload, address), signal);
    } catch (err) {
      signal.throwIfAborted();
      log.info({ address, workload: nameOf(workload), err }, 'a sticky pod cannot have its address again');
    }
  }

  /** One static address of each family that the workload has some of. */
  async #takeStatic(
    network: string,
    pod: PodName,
    families: Families,
    signal: AbortSignal,
  ): Promise<string[]> {
    const unusable = new Set<string>();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const stored = this.#options.workloads.of(network, pod);
      if (stored === undefined) return [];
      const chosen = this.#chooseStatic(stored.value, pod, families, unusable);
      if (!(await this.#assign(stored, pod, chosen, signal))) continue;
      const refused = await this.#firstRefused(stored.value, chosen, signal);
      if (refused === undefined) return chosen;
      unusable.add(refused);
    }
    throw new PodwireError(
      'STORE_CONFLICT',
      `workload of ${pod.namespace}/${pod.name}: others change it all the time`,
    );
  }

  /** The pod's own addresses, or else the first that no other pod has. @throws PodwireError ADDRESS_IN_USE */
  #chooseStatic(
    workload: Workload,
    pod: PodName,
    families: Families,
    unusable: ReadonlySet<string>,
  ): string[] {
    const others = Object.entries(workload.assigned).flatMap(([name, has]) => (name === pod.name ? [] : has));
    const taken = new Set([...others, ...unusable]);
    const own = assignedTo(workload, pod).filter((address) => workload.addresses.includes(address));
    return families.flatMap((family) => {
      const all = workload.addresses.filter((address) => familyOf(address) === family);
      if (all.length === 0) return [];
      const free = [...own, ...all].filter((address) => familyOf(address) === family && !taken.has(address));
      // An address that is in use on this node would be refused, so it comes last.
      const found = free.find((address) => this.#options.state.allocation(address) === undefined) ?? free[0];
      if (found !== undefined) return found;
      const message = `all IPv${family} addresses of workload ${nameOf(workload)} are taken (${all.join(', ')})`;
      throw new PodwireError('ADDRESS_IN_USE', message, {
        details: { owner: `workload ${nameOf(workload)}`, addresses: all },
      });
    });
  }

  /** @returns the address that this node cannot get */
  async #firstRefused(
    workload: Workload,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { provider, log } = this.#options;
    for (const address of addresses) {
      try {
        await provider.provide(needOf(workload, address), signal);
      } catch (err) {
        if (!(err instanceof PodwireError) || err.code !== 'ADDRESS_IN_USE') throw err;
        log.info({ address, err }, 'a static address is not available; the next one is tried');
        return address;
      }
    }
    return undefined;
  }

  /** @param addresses empty: the pod has none any more. @returns whether the store has it */
  async #assign(
    { key, value, revision }: Stored<Workload>,
    pod: PodName,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (JSON.stringify(assignedTo(value, pod)) === JSON.stringify(addresses)) return true;
    const { store, cache } = this.#options;
    const { [pod.name]: _, ...others } = value.assigned;
    const assigned = addresses.length === 0 ? others : { ...others, [pod.name]: [...addresses] };
    const next: Workload = { ...value, assigned };
    const writes = [{ op: 'put', key, value: encodeObject(workloadKind, next) }] as const;
    const outcome = await store.transact({ conditions: [{ key, expect: revision }], writes }, signal);
    if (outcome.committed) {
      cache.note(key, next, outcome.revision);
      return true;
    }
    const [item] = outcome.found;
    if (item === undefined) cache.noteGone(key, revision);
    else cache.note(key, decodeObject(workloadKind, key, item.value), item.revision);
    return false;
  }

  /** @throws as the store does */
  async writePending(signal: AbortSignal): Promise<void> {
    const failed = new Set<string>();
    await forEachTolerant(this.#options.log, [...this.#pending], signal, async (next) => {
      // After a failure the later ones of the same pod wait too.
      const pod = JSON.stringify([next.network, next.pod]);
      if (failed.has(pod) || !this.#pending.includes(next)) return;
      failed.add(pod);
      await this.#write(next, signal);
      failed.delete(pod);
      const at = this.#pending.indexOf(next);
      if (at >= 0) this.#pending.splice(at, 1);
    });
  }

  async #write({ network, pod, addresses }: Assignment, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const stored = this.#options.workloads.of(network, pod);
      if (stored === undefined) return;
      const { sticky, addresses: fixed } = stored.value;
      if (addresses === undefined && sticky) return;
      // A static address may have been freed when an earlier pod of this name ended.
      const kept = sticky ? addresses : addresses?.filter((address) => fixed.includes(address));
      if (addresses !== undefined && kept?.length === 0) return;
      if (await this.#assign(stored, pod, kept ?? [], signal)) return;
    }
  }
}

/** A pod may be called `constructor`, and have nothing. */
const assignedTo = ({ assigned }: Workload, { name }: PodName): readonly string[] =>
  Object.hasOwn(assigned, name) ? assigned[name]! : [];

const samePod = (
  a: Pick<Assignment, 'network' | 'pod'>,
  { network, pod: { namespace, name } }: Pick<Assignment, 'network' | 'pod'>,
): boolean => a.network === network && a.pod.namespace === namespace && a.pod.name === name;

const needOf = (workload: Workload, address: string): Need => ({
  network: workload.network,
  families: [familyOf(address)],
  requested: [address],
  workload: nameOf(workload),
});
