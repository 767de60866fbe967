import { MARK, OWN_KEYS } from './description.js';

type Pairs = { readonly [key: string]: string };

/** All pairs of a row that are ours, the mark among them. */
export function ownPairs(id: string, pairs: Pairs = {}): ReadonlyMap<string, string> {
  const keys = Object.keys(pairs).sort();
  return new Map([
    ...Object.entries(pairs),
    [MARK, id],
    ...(keys.length === 0 ? [] : [[OWN_KEYS, keys.join(' ')] as const]),
  ]);
}

/** The keys that are ours in a row as it is. */
export function ownKeysOf(found: ReadonlyMap<string, string>): readonly string[] {
  const named = found.get(OWN_KEYS)?.split(' ') ?? [];
  return [MARK, OWN_KEYS, ...named].filter((key) => found.has(key));
}

/** Keys to take away and pairs to put, so that ours are as wanted; nothing where they are. */
export function differenceOfPairs(
  wanted: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): { readonly remove: readonly string[]; readonly put: ReadonlyMap<string, string> } {
  const put = new Map([...wanted].filter(([key, value]) => found.get(key) !== value));
  const left = ownKeysOf(found).filter((key) => !wanted.has(key));
  return { remove: [...left, ...[...put.keys()].filter((key) => found.has(key))], put };
}
