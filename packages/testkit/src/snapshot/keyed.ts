/** A list as a record; equal keys are numbered, so that nothing is lost. */
export function keyed<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  valueOf: (item: T) => unknown,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const item of items) {
    const key = keyOf(item);
    let free = key;
    for (let number = 2; free in result; number += 1) free = `${key} #${number}`;
    result[free] = valueOf(item);
  }
  return result;
}

/** A copy without the named keys, at every depth. */
export function without(value: unknown, unwanted: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, unwanted));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !unwanted(key))
      .map(([key, inner]) => [key, without(inner, unwanted)]),
  );
}

/** JSON with sorted keys: equal data gives equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
