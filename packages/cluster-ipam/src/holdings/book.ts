/** What this node has: blocks, borrowed addresses, and which addresses are in use. In memory, pure bookkeeping. */
import {
  type Address,
  compareAddresses,
  containsPrefix,
  formatAddress,
  hostPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import type { Allocation } from '@podwire/cluster-state';
import type { BlockAffinity } from '../contract.js';

export interface Held {
  /** A block, or a single address that is lent to this node. */
  readonly cidr: string;
  readonly prefix: Prefix;
  state: BlockAffinity['state'];
  /** The block of another node that a borrowed address lies in. */
  readonly lender?: string;
  /** Whether IPAM has it; else it is in stock. */
  isOpen: boolean;
  /** A borrowed address that this life has not asked for: an import may say that somebody has it. Not in stock until that is known. */
  isStrange?: boolean;
  /** Elapsed milliseconds: since when it is in stock. */
  since: number;
  /** Addresses of it in use. */
  used: number;
}

export class Book {
  /** By cidr. */
  readonly #held = new Map<string, Held>();
  readonly #lengths = new Map<number, number>();
  #borrowed = 0;
  /** By address. */
  readonly #entries = new Map<string, Allocation>();

  get(cidr: string): Held | undefined {
    return this.#held.get(cidr);
  }

  all(): IterableIterator<Held> {
    return this.#held.values();
  }

  blocks(): Held[] {
    return [...this.#held.values()].filter((held) => held.lender === undefined);
  }

  borrowed(): Held[] {
    return [...this.#held.values()].filter((held) => held.lender !== undefined);
  }

  get borrowedCount(): number {
    return this.#borrowed;
  }

  /** In stock, whole blocks before borrowed addresses, the oldest first. */
  stock(): Held[] {
    const closed = [...this.#held.values()].filter(
      (held) => !held.isOpen && held.isStrange !== true && held.state !== 'pendingDeletion',
    );
    return closed.sort((a, b) => Number(a.lender !== undefined) - Number(b.lender !== undefined));
  }

  add(cidr: string, state: BlockAffinity['state'], since: number, lender?: string): Held {
    this.delete(cidr);
    const prefix = parsePrefix(cidr);
    const used = this.usedWithin(prefix).length;
    const held: Held = {
      cidr,
      prefix,
      state,
      isOpen: false,
      since,
      used,
      ...(lender === undefined ? {} : { lender }),
    };
    this.#held.set(cidr, held);
    if (lender !== undefined) this.#borrowed++;
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
    return held;
  }

  delete(cidr: string): Held | undefined {
    const held = this.#held.get(cidr);
    if (held === undefined) return undefined;
    this.#held.delete(cidr);
    if (held.lender !== undefined) this.#borrowed--;
    const left = (this.#lengths.get(held.prefix.length) ?? 1) - 1;
    if (left === 0) this.#lengths.delete(held.prefix.length);
    else this.#lengths.set(held.prefix.length, left);
    return held;
  }

  /** What of the node the address lies in. */
  around(address: Address): Held | undefined {
    for (const length of this.#lengths.keys()) {
      if (address.family === 4 && length > 32) continue;
      const held = this.#held.get(cidrAt(address, length));
      if (held !== undefined) return held;
    }
    return undefined;
  }

  /** @returns what it lies in, when that is known and the address was not in use before */
  use(entry: Allocation): Held | undefined {
    const address = parseAddress(entry.address);
    const text = formatAddress(address);
    const isNew = !this.#entries.has(text);
    this.#entries.set(text, { ...entry, address: text });
    const held = this.around(address);
    if (held !== undefined && isNew) held.used++;
    return held;
  }

  free(address: string): Held | undefined {
    const parsed = parseAddress(address);
    if (!this.#entries.delete(formatAddress(parsed))) return undefined;
    const held = this.around(parsed);
    if (held !== undefined) held.used--;
    return held;
  }

  entry(address: string): Allocation | undefined {
    return this.#entries.get(address);
  }

  entries(): IterableIterator<Allocation> {
    return this.#entries.values();
  }

  /** In order of addresses. Looks at every address in use. */
  usedWithin(prefix: Prefix): Allocation[] {
    const inside = [...this.#entries.values()]
      .map((entry) => ({ entry, address: parseAddress(entry.address) }))
      .filter(({ address }) => containsPrefix(prefix, hostPrefix(address)));
    return inside.sort((a, b) => compareAddresses(a.address, b.address)).map(({ entry }) => entry);
  }
}

function cidrAt(address: Address, length: number): string {
  const first = prefixOf(address, length);
  return `${formatAddress(first.address)}/${length}`;
}

/** A single address as a borrowed one is called. */
export function cidrOfAddress(text: string): string {
  const { address, length } = hostPrefix(parseAddress(text));
  return `${formatAddress(address)}/${length}`;
}
