/** Steps that plans of all kinds take. */
import type { Change, ClusterView, Entries, EntryType, ObjectType, Plan } from '../contract.js';
import { conflict, unknownObject } from '../problems.js';
import { renderObject } from '../render/objects.js';

/** The entry. @throws PodwireError OBJECT_UNKNOWN */
export function requireEntry<T extends EntryType>(cluster: ClusterView, type: T, key: string): Entries[T] {
  const entry = cluster.table(type).get(key);
  if (entry === undefined) throw unknownObject(`${type} ${key}`);
  return entry;
}

/** An object that a field names. @throws PodwireError TENANT_CONFLICT */
export function requireNamed<T extends ObjectType>(
  cluster: ClusterView,
  named: { readonly type: T; readonly key: string },
  place: { readonly object: string; readonly field: string },
): Entries[T] {
  const entry = cluster.table(named.type).get(named.key);
  if (entry === undefined)
    throw conflict(place.object, place.field, `names ${named.type} ${named.key}, which is not there`);
  return entry;
}

/** Fields that cannot change, once an object is there. @throws PodwireError TENANT_CONFLICT naming the first that would */
export function requireSame<T extends object>(
  object: string,
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): void {
  const changed = fields.find((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  if (changed !== undefined) throw conflict(object, changed, 'cannot change once the object is there');
}

export const fieldsOf = <T extends object>(...objects: readonly T[]): (keyof T & string)[] => [
  ...new Set(objects.flatMap((each) => Object.keys(each) as (keyof T & string)[])),
];

/** A plan that answers with the object as it is then. */
export const objectPlan = (type: ObjectType, key: string, changes: readonly Change[]): Plan => ({
  changes,
  answer: (cluster) => renderObject(cluster, type, key),
});
