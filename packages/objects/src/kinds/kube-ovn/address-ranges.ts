/** Ranges of addresses, as `excludeIps` of a Subnet has them: `10.16.0.1`, or `10.16.0.10..10.16.0.20` with both ends. */
import { type Address, type Family, formatAddress, tryParseAddress } from '@podwire/addresses';

/** Addresses of one family as numbers, both ends included. */
export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export type ReadRange =
  | { readonly range: AddressRange; readonly fault?: undefined }
  /** After the name of the field: `must be …`. */
  | { readonly fault: string; readonly range?: undefined };

const between = '..';

export function readRange(text: string): ReadRange {
  const ends = text.split(between);
  const [first, last] = [tryParseAddress(ends[0]!), tryParseAddress(ends.at(-1)!)];
  if (ends.length > 2 || first === undefined || last === undefined)
    return { fault: 'must be an address or a range: 10.16.0.1 or 10.16.0.10..10.16.0.20' };
  if (first.family !== last.family) return { fault: 'must have both ends in one family' };
  if (first.value > last.value)
    return { fault: `must begin with the lower address: ${formatAddress(last)}..${formatAddress(first)}` };
  return { range: { family: first.family, first: first.value, last: last.value } };
}

/**
 * Reads `excludeIps`: in order, IPv4 first, without overlaps.
 * @throws RangeError naming the text that is no range
 */
export function parseExcludeIps(texts: readonly string[]): readonly AddressRange[] {
  return mergeRanges(
    texts.map((text) => {
      const { range, fault } = readRange(text);
      if (range === undefined) throw new RangeError(`${JSON.stringify(text)} ${fault}`);
      return range;
    }),
  );
}

export const rangeOfAddress = ({ family, value }: Address): AddressRange => ({
  family,
  first: value,
  last: value,
});

export function formatRange({ family, first, last }: AddressRange): string {
  const [low, high] = [first, last].map((value) => formatAddress({ family, value }));
  return low === high ? low! : `${low}${between}${high}`;
}

/** The same addresses in as few ranges as possible, in order, IPv4 first: ranges that touch become one. */
export function mergeRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const merged: AddressRange[] = [];
  for (const range of ranges.toSorted(compareRanges)) {
    const before = merged.at(-1);
    if (before === undefined || before.family !== range.family || before.last + 1n < range.first)
      merged.push(range);
    else if (before.last < range.last) merged[merged.length - 1] = { ...before, last: range.last };
  }
  return merged;
}

function compareRanges(a: AddressRange, b: AddressRange): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

/** The part of each range that lies in `whole`; none where nothing does. */
export const clipRanges = (ranges: readonly AddressRange[], whole: AddressRange): readonly AddressRange[] =>
  ranges
    .filter(
      ({ family, first, last }) => family === whole.family && first <= whole.last && last >= whole.first,
    )
    .map(({ family, first, last }) => ({
      family,
      first: first > whole.first ? first : whole.first,
      last: last < whole.last ? last : whole.last,
    }));

/** The rest of `whole`. @param holes merged, and within it */
export function subtractRanges(
  { family, first, last }: AddressRange,
  holes: readonly AddressRange[],
): readonly AddressRange[] {
  const starts = [first, ...holes.map((hole) => hole.last + 1n)];
  const ends = [...holes.map((hole) => hole.first - 1n), last];
  return starts
    .map((start, index) => ({ family, first: start, last: ends[index]! }))
    .filter((range) => range.first <= range.last);
}
