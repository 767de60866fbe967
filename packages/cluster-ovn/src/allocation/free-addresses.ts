/** Addresses of one subnet and family, and which of them are free. */
import {
  type Address,
  addressAt,
  containsAddress,
  formatAddress,
  lastAddress,
  parseAddress,
  parsePrefix,
  type Prefix,
  tryParseAddress,
} from '@podwire/addresses';
import { parseExcludeIps } from '@podwire/objects';
import type { SubnetRange } from '../contract.js';

/** First and last value; both are in it. */
type Interval = readonly [first: bigint, last: bigint];

/** Where the search begins: behind the address that was handed out last, so that one that comes back rests for a long time. */
export type Cursor = string | undefined;

export class FreeAddresses {
  readonly cidr: string;
  readonly gateway: string;
  readonly #prefix: Prefix;
  readonly #usable: Interval;
  /** Never handed out by itself; who asks for one of them by name gets it. */
  readonly #reserved: readonly Interval[];
  /** How often: an address may be written in two ways, each with an owner of its own. */
  readonly #taken = new Map<bigint, number>();

  /** @param excluded addresses, or `FIRST..LAST`; those of other families say nothing here */
  constructor({ cidr, gateway }: SubnetRange, excluded: readonly string[]) {
    this.cidr = cidr;
    this.gateway = gateway;
    this.#prefix = parsePrefix(cidr);
    // The first address is that of the network, the last one of IPv4 that of all.
    this.#usable = [this.#prefix.address.value + 1n, lastAddress(this.#prefix).value - 1n];
    this.#reserved = parseExcludeIps([gateway, ...excluded])
      .filter(({ family }) => family === this.#prefix.family)
      .map(({ first, last }) => [first, last]);
  }

  /** True for what a pod can have: not for the gateway, nor the first and last address. */
  offers(text: string): boolean {
    const address = tryParseAddress(text);
    if (address === undefined || !containsAddress(this.#prefix, address)) return false;
    return isIn(this.#usable, address.value) && text !== this.gateway;
  }

  contains(text: string): boolean {
    const address = tryParseAddress(text);
    return address !== undefined && containsAddress(this.#prefix, address);
  }

  take(text: string): void {
    const { value } = parseAddress(text);
    this.#taken.set(value, (this.#taken.get(value) ?? 0) + 1);
  }

  /** Undoes one {@link take}. */
  release(text: string): void {
    const { value } = parseAddress(text);
    const left = (this.#taken.get(value) ?? 0) - 1;
    if (left > 0) this.#taken.set(value, left);
    else this.#taken.delete(value);
  }

  /** The first free address behind the cursor, around the end. */
  findFree(cursor: Cursor, isUnusable: (address: string) => boolean = () => false): string | undefined {
    const [first, last] = this.#usable;
    const after = cursor !== undefined && this.contains(cursor) ? parseAddress(cursor).value + 1n : first;
    const start = after < first || after > last ? first : after;
    return this.#search([start, last], isUnusable) ?? this.#search([first, start - 1n], isUnusable);
  }

  #search([first, last]: Interval, isUnusable: (address: string) => boolean): string | undefined {
    for (let value = first; value <= last; value++) {
      const reserved = this.#reserved.find((interval) => isIn(interval, value));
      // A large interval is one step.
      if (reserved !== undefined) value = reserved[1];
      else if (!this.#taken.has(value)) {
        const text = formatAddress(this.#at(value));
        if (!isUnusable(text)) return text;
      }
    }
    return undefined;
  }

  #at(value: bigint): Address {
    return addressAt(this.#prefix.address, value - this.#prefix.address.value);
  }
}

const isIn = ([first, last]: Interval, value: bigint): boolean => value >= first && value <= last;
