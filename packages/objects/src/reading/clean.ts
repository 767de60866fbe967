/** Removes fields that are no part of an object as a person writes it: nulls, and fields that an API server keeps. */

/** An API server writes these; they say nothing about what is wanted. */
const keptByServer: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'selfLink',
  'managedFields',
  'ownerReferences',
  'finalizers',
  'generateName',
]);

/** Keys below these are people's own: a null there is a mistake. */
const freeMaps: ReadonlySet<string> = new Set(['labels', 'annotations', 'matchLabels', 'selector']);

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object as it was exported from an API server is read as one that was written by hand. An absent field and null mean the same
 * in Kubernetes; a null in a list is left there, since a rule of nothing would allow everything.
 * @param keepStatus without it, `status` is taken away
 */
export function cleanObject(value: unknown, keepStatus: boolean): unknown {
  const clean = dropNulls(value);
  if (!isFields(clean)) return clean;
  const { status, ...rest } = clean;
  return {
    ...rest,
    ...(isFields(rest['metadata']) && { metadata: dropKept(rest['metadata']) }),
    ...(keepStatus && status !== undefined && { status }),
  };
}

const dropKept = (metadata: Fields): Fields =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => !keptByServer.has(key)));

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, freeMaps.has(key) && isFields(inner) ? inner : dropNulls(inner)]),
  );
}
