type Plain = Readonly<Record<string, unknown>>;

/**
 * Compares plain data by content; a property that is undefined counts as absent. An object of a class is the same only as
 * itself. Unchanged facts often give the very same object, which costs nothing here.
 */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one)) return Array.isArray(other) && isSameList(one, other);
  return isPlain(one) && isPlain(other) && isSameObject(one, other);
}

const isSameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((each, index) => isSame(each, other[index]));

function isPlain(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSameObject(one: Plain, other: Plain): boolean {
  for (const key in one) if (!isSame(one[key], other[key])) return false;
  for (const key in other) if (!(key in one) && other[key] !== undefined) return false;
  return true;
}
