import { lastAddress, type Prefix } from '@podwire/addresses';
import type { AddressRange } from './contract.js';

export function rangeOf(prefix: Prefix): AddressRange {
  return { first: prefix.address.value, last: lastAddress(prefix).value };
}

/** The same addresses as sorted ranges that neither overlap nor touch. */
export function mergeRanges(ranges: readonly AddressRange[]): AddressRange[] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: AddressRange[] = [];
  for (const range of sorted) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last + 1n) merged.push(range);
    else if (range.last > before.last) merged[merged.length - 1] = { first: before.first, last: range.last };
  }
  return merged;
}

/** The part of `range` that lies within `bounds`; undefined when none does. */
export function clipRange(range: AddressRange, bounds: AddressRange): AddressRange | undefined {
  const first = range.first > bounds.first ? range.first : bounds.first;
  const last = range.last < bounds.last ? range.last : bounds.last;
  return first <= last ? { first, last } : undefined;
}

/** Those of merged `ranges` that share an address with `bounds`, in O(log n + result). */
export function rangesWithin(ranges: readonly AddressRange[], bounds: AddressRange): AddressRange[] {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.last < bounds.first) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < ranges.length && ranges[end]!.first <= bounds.last) end++;
  return ranges.slice(low, end);
}

export function countAddresses(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, range) => sum + (range.last - range.first + 1n), 0n);
}
