/** Difference between two configurations, by name: `networks[default].pools[web].disabled`. */
export interface ConfigChange {
  readonly path: string;
  /** Undefined: it was not there. */
  readonly from: unknown;
  /** Undefined: it is not there any more. */
  readonly to: unknown;
}

/** One value in the file, though it is read into several. */
const wholes: ReadonlySet<string> = new Set(['metrics.listen']);

/** Lists whose items have names are compared by name; their order is no change. */
export function findChanges(from: unknown, to: unknown, path = ''): ConfigChange[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  const [before, after] = wholes.has(path) ? [] : [entriesOf(from), entriesOf(to)];
  if (before === undefined || after === undefined) return [{ path, from, to }];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const place = Array.isArray(to) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return findChanges(before.get(name), after.get(name), place);
  });
}

/** By key, or by the name of an item; undefined for what is compared as a whole. */
function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return value.length > 0 && value.every(isNamed)
    ? new Map(value.map((item) => [item.name, item]))
    : undefined;
}

function isNamed(item: unknown): item is { readonly name: string } {
  return typeof item === 'object' && item !== null && typeof (item as { name?: unknown }).name === 'string';
}
