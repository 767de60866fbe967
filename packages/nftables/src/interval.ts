/**
 * Elements of sets with `flags interval`. nft writes them as prefixes or ranges; the kernel keeps two elements for each:
 * its first key, and the key behind its last with NFT_SET_ELEM_INTERVAL_END. An interval that ends with the last
 * address of its family has no second element. Intervals that touch stay apart, those that overlap are refused.
 */
import {
  type Address,
  addressBits,
  addressFromBytes,
  addressToBytes,
  compareAddresses,
  type Family,
  formatAddress,
  formatPrefix,
  hostPrefix,
  lastAddress,
  parseAddress,
  parsePrefix,
  prefixOf,
} from '@podwire/addresses';
import type { IntervalType, Value } from './values.js';

/** As the kernel keeps an interval. */
export interface Bounds {
  readonly first: Uint8Array;
  /** The key behind the last one; absent where there is none. */
  readonly end: Uint8Array | undefined;
}

const familyOfType: Readonly<Record<IntervalType, Family>> = { ipv4_interval: 4, ipv6_interval: 6 };

/** The bounds of a key that is an interval; `undefined` for any other key. @throws RangeError naming the text */
export function boundsOf(key: readonly Value[]): Bounds | undefined {
  const [value, ...more] = key;
  if (value === undefined || more.length > 0 || !isInterval(value)) return undefined;
  const { first, last } = parseInterval(value.value);
  if (first.family !== familyOfType[value.type] || compareAddresses(first, last) > 0)
    throw new RangeError(`not an ${value.type}: ${value.value}`);
  return { first: addressToBytes(first), end: bytesBehind(last) };
}

export const isIntervalKey = (key: readonly Value[]): boolean => key.some(isInterval);

function isInterval(value: Value): value is Extract<Value, { type: IntervalType }> {
  return value.type === 'ipv4_interval' || value.type === 'ipv6_interval';
}

/** The text of a key that is an interval, as {@link pairBounds} would give it back. */
export function canonicalInterval(key: readonly Value[]): string {
  return formatInterval(parseInterval(String(key[0]?.value)));
}

/** Reports if two keys, both intervals, have an address in common. */
export function overlap(one: readonly Value[], other: readonly Value[]): boolean {
  return haveCommon(boundsOf(one)!, boundsOf(other)!);
}

function haveCommon(a: Bounds, b: Bounds): boolean {
  const begins = (first: Uint8Array, end: Uint8Array | undefined): boolean =>
    end === undefined || Buffer.compare(first, end) < 0;
  return a.first.length === b.first.length && begins(a.first, b.end) && begins(b.first, a.end);
}

/** Intervals that do not overlap each other, in their order. */
export class OrderedIntervals {
  readonly #intervals: readonly { readonly key: readonly Value[]; readonly bounds: Bounds }[];

  constructor(keys: readonly (readonly Value[])[]) {
    this.#intervals = keys
      .map((key) => ({ key, bounds: boundsOf(key)! }))
      .sort((a, b) => Buffer.compare(a.bounds.first, b.bounds.first));
  }

  overlapping(key: readonly Value[]): (readonly Value[])[] {
    const bounds = boundsOf(key)!;
    const found: (readonly Value[])[] = [];
    for (let at = this.#firstNotBefore(bounds); at < this.#intervals.length; at++) {
      const other = this.#intervals[at]!;
      if (!haveCommon(other.bounds, bounds)) break;
      found.push(other.key);
    }
    return found;
  }

  /** The place of the first one that ends behind where these bounds begin. */
  #firstNotBefore({ first }: Bounds): number {
    let [low, high] = [0, this.#intervals.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { end } = this.#intervals[middle]!.bounds;
      if (end !== undefined && Buffer.compare(end, first) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Range {
  readonly first: Address;
  readonly last: Address;
}

function parseInterval(text: string): Range {
  const [start = '', end] = text.split('-');
  if (end !== undefined) return { first: parseAddress(start), last: parseAddress(end) };
  const prefix = text.includes('/') ? parsePrefix(text) : hostPrefix(parseAddress(text));
  return { first: prefix.address, last: lastAddress(prefix) };
}

function bytesBehind({ family, value }: Address): Uint8Array | undefined {
  const next = value + 1n;
  return next >> BigInt(addressBits(family)) === 0n ? addressToBytes({ family, value: next }) : undefined;
}

/** One of the kernel's elements: where an interval begins, or the first key that is not in it any more. */
export interface Bound {
  readonly key: Uint8Array;
  readonly isEnd: boolean;
}

/** An interval with the element that it begins with. */
export interface Interval<B extends Bound> {
  readonly begin: B;
  readonly key: Value[];
}

/** The intervals that these elements make, in order. */
export function pairBounds<B extends Bound>(bounds: readonly B[]): Interval<B>[] {
  // A bound that ends at a key stands before one that begins there.
  const sorted = [...bounds].sort(
    (a, b) => Buffer.compare(a.key, b.key) || Number(b.isEnd) - Number(a.isEnd),
  );
  return sorted.flatMap((begin, index) => {
    // nft may put an end in front of all intervals, which ends none.
    if (begin.isEnd) return [];
    return [{ begin, key: [intervalBetween(begin.key, sorted[index + 1]?.key)] }];
  });
}

function intervalBetween(begin: Uint8Array, end: Uint8Array | undefined): Value {
  const first = addressFromBytes(begin);
  const { family } = first;
  const behind = end === undefined ? 1n << BigInt(addressBits(family)) : addressFromBytes(end).value;
  const value = formatInterval({ first, last: { family, value: behind - 1n } });
  return { type: family === 4 ? 'ipv4_interval' : 'ipv6_interval', value };
}

/** A prefix where it is one, otherwise a range. */
function formatInterval({ first, last }: Range): string {
  const differing = (first.value ^ last.value).toString(2);
  const free = differing === '0' ? 0 : differing.length;
  const prefix = prefixOf(first, addressBits(first.family) - free);
  const isPrefix =
    compareAddresses(prefix.address, first) === 0 && compareAddresses(lastAddress(prefix), last) === 0;
  return isPrefix ? formatPrefix(prefix) : `${formatAddress(first)}-${formatAddress(last)}`;
}
