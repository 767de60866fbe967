/** The node's affinities (its blocks and the addresses that it borrows) and the addresses in use. In memory, pure bookkeeping. */
import {
  type Address,
  addressBits,
  compareAddresses,
  containsPrefix,
  formatAddress,
  formatPrefix,
  hostPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import type { Allocation } from '@podwire/cluster-state';
import { compact } from '@podwire/platform';
import type { BlockAffinity } from '../contract.js';

export interface Affinity {
  /** A block, or a single borrowed address. */
  readonly cidr: string;
  readonly prefix: Prefix;
  state: BlockAffinity['state'];
  /** The block of another node that a borrowed address lies in. */
  readonly borrowedFrom?: string;
  /** True while IPAM uses it; else it is a spare. */
  isOpen: boolean;
  /** A borrowed address that this life has not requested: it may be in use by an imported pod. No spare until that is known. */
  isUnverified?: boolean;
  /** Elapsed milliseconds: since when it is a spare. */
  since: number;
  /** How many of its addresses are in use. */
  used: number;
}

export class AllocationState {
  /** By cidr. */
  readonly #affinities = new Map<string, Affinity>();
  readonly #lengths = new Map<number, number>();
  #borrowedCount = 0;
  /** By address. */
  readonly #allocations = new Map<string, Allocation>();

  get(cidr: string): Affinity | undefined {
    return this.#affinities.get(cidr);
  }

  all(): IterableIterator<Affinity> {
    return this.#affinities.values();
  }

  blocks(): Affinity[] {
    return [...this.all()].filter(({ borrowedFrom }) => borrowedFrom === undefined);
  }

  borrowed(): Affinity[] {
    return [...this.all()].filter(({ borrowedFrom }) => borrowedFrom !== undefined);
  }

  get borrowedCount(): number {
    return this.#borrowedCount;
  }

  /** Affinities that IPAM does not have: blocks before borrowed addresses, the oldest first. */
  spares(): Affinity[] {
    const closed = [...this.all()].filter(
      ({ isOpen, isUnverified, state }) => !isOpen && isUnverified !== true && state !== 'pendingDeletion',
    );
    return closed.sort((a, b) => Number(a.borrowedFrom !== undefined) - Number(b.borrowedFrom !== undefined));
  }

  add(cidr: string, state: BlockAffinity['state'], since: number, borrowedFrom?: string): Affinity {
    this.delete(cidr);
    const prefix = parsePrefix(cidr);
    const used = this.usedWithin(prefix).length;
    const affinity: Affinity = compact({ cidr, prefix, state, isOpen: false, since, used, borrowedFrom });
    this.#affinities.set(cidr, affinity);
    if (borrowedFrom !== undefined) this.#borrowedCount++;
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
    return affinity;
  }

  delete(cidr: string): void {
    const affinity = this.#affinities.get(cidr);
    if (affinity === undefined) return;
    this.#affinities.delete(cidr);
    if (affinity.borrowedFrom !== undefined) this.#borrowedCount--;
    const left = (this.#lengths.get(affinity.prefix.length) ?? 1) - 1;
    if (left === 0) this.#lengths.delete(affinity.prefix.length);
    else this.#lengths.set(affinity.prefix.length, left);
  }

  /** The affinity that contains the address. */
  around(address: Address): Affinity | undefined {
    for (const length of this.#lengths.keys()) {
      if (length > addressBits(address.family)) continue;
      const affinity = this.#affinities.get(formatPrefix(prefixOf(address, length)));
      if (affinity !== undefined) return affinity;
    }
    return undefined;
  }

  /** @returns the affinity around the address; `used` of it counts only addresses that were not in use before */
  use(allocation: Allocation): Affinity | undefined {
    const address = parseAddress(allocation.address);
    const text = formatAddress(address);
    const isNew = !this.#allocations.has(text);
    this.#allocations.set(text, { ...allocation, address: text });
    const affinity = this.around(address);
    if (affinity !== undefined && isNew) affinity.used++;
    return affinity;
  }

  free(address: string): Affinity | undefined {
    const parsed = parseAddress(address);
    if (!this.#allocations.delete(formatAddress(parsed))) return undefined;
    const affinity = this.around(parsed);
    if (affinity !== undefined) affinity.used--;
    return affinity;
  }

  allocation(address: string): Allocation | undefined {
    return this.#allocations.get(address);
  }

  allocations(): IterableIterator<Allocation> {
    return this.#allocations.values();
  }

  /** In order of addresses. Looks at every address in use. */
  usedWithin(prefix: Prefix): Allocation[] {
    const inside = [...this.#allocations.values()]
      .map((allocation) => ({ allocation, address: parseAddress(allocation.address) }))
      .filter(({ address }) => containsPrefix(prefix, hostPrefix(address)));
    return inside.sort((a, b) => compareAddresses(a.address, b.address)).map(({ allocation }) => allocation);
  }
}

/** The cidr of a borrowed address. */
export const cidrOfAddress = (text: string): string => formatPrefix(hostPrefix(parseAddress(text)));

/** The block whose allocation record has the addresses: of a borrowed one, the block that it lies in. */
export const recordOf = ({ cidr, borrowedFrom = cidr }: Affinity): string => borrowedFrom;
