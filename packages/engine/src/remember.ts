/** Reads when first asked, and no second time. */
export function once<T>(read: () => T): () => T {
  let value: { readonly known: T } | undefined;
  return () => (value ??= { known: read() }).known;
}

/** The same for each key. */
export function remember<K, V>(read: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, read(key));
    return known.get(key)!;
  };
}
