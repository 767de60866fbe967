/** Addresses and MACs of one subnet: who has which, and what comes next. */
import type { SubnetRange } from '../contract.js';
import { digestMac } from '../digest-mac.js';
import { FreeAddresses, type Cursor } from './free-addresses.js';

export interface AddressedSubnet {
  readonly name: string;
  /** One of each family at most. */
  readonly ranges: readonly SubnetRange[];
  /** Addresses, or `FIRST..LAST`, that are handed out to who asks for them by name alone. */
  readonly excludeIps: readonly string[];
}

export interface Allocation {
  /** In the order of the subnet's ranges. */
  readonly addresses: readonly string[];
  readonly mac: string;
}

/** By CIDR of the range. */
export type Cursors = Readonly<Record<string, Cursor>>;

interface Ownership {
  readonly owner: string;
  /** Takes that are not released yet: what is kept for a pod may be promised to it, too. */
  times: number;
}

export class SubnetAddresses {
  readonly name: string;
  readonly ranges: readonly FreeAddresses[];
  /** Of addresses and MACs. */
  readonly #owners = new Map<string, Ownership>();
  readonly #cursors: Record<string, Cursor>;

  constructor({ name, ranges, excludeIps }: AddressedSubnet, cursors: Cursors = {}) {
    this.name = name;
    this.ranges = ranges.map((range) => new FreeAddresses(range, excludeIps));
    this.#cursors = { ...cursors };
  }

  /** As they are at this moment. */
  get cursors(): Cursors {
    return { ...this.#cursors };
  }

  contains(address: string): boolean {
    return this.ranges.some((range) => range.contains(address));
  }

  /** The owner of an address or of a MAC. */
  ownerOf(addressOrMac: string): string | undefined {
    return this.#owners.get(addressOrMac)?.owner;
  }

  /** @returns what of it another owner has, and keeps */
  take(owner: string, { addresses, mac }: Allocation): string[] {
    const conflicts: string[] = [];
    for (const text of [...addresses, mac]) {
      const found = this.#owners.get(text);
      if (found === undefined) this.#owners.set(text, { owner, times: 1 });
      else if (found.owner === owner) found.times += 1;
      else conflicts.push(text);
    }
    for (const range of this.ranges)
      for (const address of addresses) if (range.contains(address)) range.take(address);
    return conflicts;
  }

  /** Undoes a {@link take} without conflicts. */
  release(owner: string, { addresses, mac }: Allocation): void {
    for (const text of [...addresses, mac]) {
      const found = this.#owners.get(text);
      if (found?.owner !== owner) continue;
      found.times -= 1;
      if (found.times === 0) this.#owners.delete(text);
    }
    for (const range of this.ranges)
      for (const address of addresses) if (range.contains(address)) range.release(address);
  }

  /** The next free address of a range of this subnet. */
  findNext(range: FreeAddresses, isUnusable?: (address: string) => boolean): string | undefined {
    return range.findFree(this.#cursors[range.cidr], isUnusable);
  }

  /** The search goes on behind these addresses. */
  passOver(addresses: readonly string[]): void {
    for (const range of this.ranges) {
      const found = addresses.find((address) => range.contains(address));
      if (found !== undefined) this.#cursors[range.cidr] = found;
    }
  }

  /** A MAC that follows from the addresses; another one where a pod has asked for just that. */
  findMac(addresses: readonly string[]): string {
    for (let attempt = 0; ; attempt++) {
      const mac = macOf(addresses, attempt);
      if (!this.#owners.has(mac)) return mac;
    }
  }
}

/** Kube-OVN draws one; from the addresses it is the same when a pod gets them again. */
const macOf = (addresses: readonly string[], attempt: number): string =>
  digestMac('0a', [...addresses, attempt].join(' '));
