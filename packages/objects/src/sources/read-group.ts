/** One look at all objects of an API group in a store, for controllers that hand something out. */
import type { Expectation, Store } from '@podwire/store';
import type { KindName, StoredObject, UnreadableObject } from '../contract.js';
import { DecodeCache } from './decode-cache.js';
import { decode, type Decoded, groupPrefix } from './store-object.js';

/** Shared by looks that follow each other: what has not changed is not decoded again. */
export type ObjectCache = DecodeCache<Decoded>;

export interface ObjectGroup {
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
  /** One of the group. */
  readonly apiVersion: KindName['apiVersion'];
  /** The key that each plan writes that is carried out. */
  readonly generation: string;
}

export interface GroupLook {
  readonly objects: readonly StoredObject[];
  readonly unreadable: readonly UnreadableObject[];
  /** Revision of the generation; absent: no plan has ever been carried out. */
  readonly generation: Expectation;
}

/** @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED */
export async function readGroup(
  store: Pick<Store, 'get' | 'list'>,
  { root, apiVersion, generation: key }: ObjectGroup,
  signal: AbortSignal,
  cache: ObjectCache = new DecodeCache(),
): Promise<GroupLook> {
  // First: a plan that is carried out after it changes it, whatever the list has of that plan.
  const generation = await store.get(key, { signal });
  const { items } = await store.list(groupPrefix(root, { apiVersion }), { signal });
  const decoded = cache.decode(items, (item) => decode(root, item));
  return {
    objects: decoded.flatMap(({ stored }) => stored ?? []),
    unreadable: decoded.flatMap(({ unreadable }) => unreadable ?? []),
    generation: generation?.revision ?? 'absent',
  };
}

/** The schema of the kind has read the objects, so that they are of the kind's type. */
export const ofKind = <T extends StoredObject>(stored: readonly StoredObject[], kind: string): readonly T[] =>
  stored.filter(({ object }) => object.kind === kind) as unknown as readonly T[];
