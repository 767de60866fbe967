/** Arithmetic on prefixes: what a filter gets must not overlap, and must be few. */
import {
  addressBits,
  type Family,
  formatPrefix,
  lastAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';

/** Addresses from `first` to `last`, both included, as numbers. */
interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The prefixes of a family, as few as possible and none within another, in order. Bits beyond a length are cleared. All addresses of a family
 * come as two halves: a prefix of length 0 has no place in an interval set of every kernel.
 */
export function mergeNets(nets: Iterable<string>, family: Family): string[] {
  const ranges = joinRanges([...nets].map(rangeOf));
  return ranges.flatMap((range) => [...prefixesOf(range, family)]).flatMap(halve);
}

/** The prefix without what is excepted. Exceptions outside it, or of the other family, take nothing away. */
export function subtractNets(net: string, except: readonly string[]): string[] {
  const { family } = parsePrefix(net, { loose: true });
  const holes = joinRanges(
    except.filter((each) => parsePrefix(each, { loose: true }).family === family).map(rangeOf),
  );
  return [...cutRange(rangeOf(net), holes)].flatMap((range) => [...prefixesOf(range, family)]);
}

/** True if merged nets are every address of the family. */
export const isEverything = (merged: readonly string[]): boolean =>
  merged.length === 2 && merged.every((net) => net.endsWith('/1'));

function rangeOf(net: string): Range {
  const prefix = parsePrefix(net, { loose: true });
  return { first: prefix.address.value, last: lastAddress(prefix).value };
}

function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of ranges.toSorted(compareRanges)) {
    const before = joined.at(-1);
    if (before === undefined || first > before.last + 1n) joined.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return joined;
}

const compareRanges = (a: Range, b: Range): number => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0);

/** @param holes in order, not overlapping */
function* cutRange({ first, last }: Range, holes: readonly Range[]): Generator<Range> {
  let begin = first;
  for (const hole of holes) {
    if (hole.last < begin || hole.first > last) continue;
    if (hole.first > begin) yield { first: begin, last: hole.first - 1n };
    begin = hole.last + 1n;
  }
  if (begin <= last) yield { first: begin, last };
}

/** The largest prefix that begins where the range begins and ends within it, again and again. */
function* prefixesOf({ first, last }: Range, family: Family): Generator<string> {
  const bits = addressBits(family);
  for (let begin = first; begin <= last;) {
    let length = bits;
    while (length > 0 && fits(begin, length - 1, bits, last)) length--;
    yield formatPrefix(prefixOf({ family, value: begin }, length));
    begin += 1n << BigInt(bits - length);
  }
}

function fits(begin: bigint, length: number, bits: number, last: bigint): boolean {
  const size = 1n << BigInt(bits - length);
  return begin % size === 0n && begin + size - 1n <= last;
}

function halve(net: string): string[] {
  if (!net.endsWith('/0')) return [net];
  const { family } = parsePrefix(net);
  const half = 1n << BigInt(addressBits(family) - 1);
  return [0n, half].map((value) =>
    formatPrefix({ family, address: { family, value }, length: 1 } satisfies Prefix),
  );
}
