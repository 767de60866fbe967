import type { AnyResource, Kind, Resource } from './contract.js';

/** All kinds of a program. Its functions need no backend to be open. */
export interface KindRegistry {
  /** @throws RangeError for a resource of a kind that no backend has */
  of(resource: Resource): Kind;
  /** Two resources of one key cannot both be there. */
  readonly keyOf: (resource: Resource) => string;
  /** The reason why a value that was read from a file is no resource; `undefined` when it is one. */
  readonly check: (value: unknown) => string | undefined;
  /** In a few words: `route 10.244.0.5/32 dev cali0123`. */
  readonly describe: (resource: Resource) => string;
  /** Keys that stand for the resource: its own, and those of what is on it. */
  readonly carriedBy: (resource: Resource) => readonly string[];
  /** Keys of the resources that it needs first: see `Kind.after`. */
  readonly needsOf: (resource: Resource) => readonly string[];
  /** True when other content of the same key is changed without a gap. */
  readonly canBeReplacedInPlace: (resource: Resource) => boolean;
  /** True when something that is there and differs is put right without a gap. */
  readonly isRepairedInPlace: (resource: Resource) => boolean;
}

/** @throws RangeError when two kinds have one name */
export function createKindRegistry(kinds: readonly Kind[]): KindRegistry {
  const byName = new Map<string, Kind>();
  for (const kind of kinds) {
    if (byName.has(kind.kind)) throw new RangeError(`two kinds are called ${kind.kind}`);
    byName.set(kind.kind, kind);
  }
  /** An ADD asks some five times for each key. Resources are never changed. */
  const keys = new WeakMap<Resource, string>();
  const keyOf = (resource: Resource): string => {
    const known = keys.get(resource);
    if (known !== undefined) return known;
    const key = of(resource).key(resource);
    keys.set(resource, key);
    return key;
  };
  const of = (resource: AnyResource): Kind => {
    const kind = byName.get(resource.kind);
    if (kind === undefined) throw new RangeError(`no backend has resources of kind ${resource.kind}`);
    return kind.variant?.(resource) ?? kind;
  };
  return {
    of,
    check(value) {
      if (typeof value !== 'object' || value === null) return 'kind: no resource';
      const kind = byName.get((value as AnyResource).kind);
      return kind === undefined ? 'kind: no backend has resources of this kind' : kind.check(value);
    },
    keyOf,
    describe: (resource) => of(resource).describe(resource),
    carriedBy(resource) {
      return of(resource).carries?.(resource) ?? [keyOf(resource)];
    },
    needsOf(resource) {
      const kind = of(resource);
      if (kind.after !== undefined) return kind.after(resource);
      const carrier = kind.diesWith?.(resource);
      return carrier === undefined ? [] : [carrier];
    },
    canBeReplacedInPlace: (resource) => of(resource).inPlace,
    isRepairedInPlace(resource) {
      const { inPlace, repairedInPlace = inPlace } = of(resource);
      return repairedInPlace;
    },
  };
}
