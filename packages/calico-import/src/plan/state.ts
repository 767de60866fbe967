/** State of the cluster before the import. */
import { blockKind, folders, type Keys, allocationRecordKind, poolKind } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import { decodeStoredObject, objectsPrefix } from '@podwire/objects';
import { decodeObject, type Item, type ObjectKind, type Revision, type Store } from '@podwire/store';

export type Imported = 'pool' | 'block' | 'ledger' | 'object';

/** Objects by key; a text that cannot be read is its reason. */
export interface ImportState {
  readonly keys: Keys;
  readonly objects: ReadonlyMap<
    string,
    { readonly kind: Imported; readonly value?: unknown; readonly reason?: string }
  >;
  /** Of the key that every change of pools depends on; absent: none has ever been made. */
  readonly poolsGeneration: Revision | 'absent';
}

const kinds: readonly (readonly [Imported, keyof typeof folders, ObjectKind<unknown>])[] = [
  ['pool', 'pools', poolKind],
  ['block', 'blocks', blockKind],
  ['ledger', 'allocationRecords', allocationRecordKind],
];

/** @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED */
export async function readImportState(store: Store, keys: Keys, signal: AbortSignal): Promise<ImportState> {
  // First: pools that are made after it change it.
  const generation = await store.get(keys.poolsGeneration, { signal });
  const { items } = await store.list(`${keys.root}/`, { signal });
  return {
    keys,
    objects: new Map(items.flatMap((item) => read(keys, item))),
    poolsGeneration: generation?.revision ?? 'absent',
  };
}

export const emptyState = (keys: Keys): ImportState => ({
  keys,
  objects: new Map(),
  poolsGeneration: 'absent',
});

type Found = readonly [string, { kind: Imported; value?: unknown; reason?: string }];

function read(keys: Keys, item: Item): Found[] {
  const { key, value } = item;
  if (key.startsWith(objectsPrefix(keys.root))) return [[key, readObject(keys, item)]];
  return kinds
    .filter(([, folder]) => key.startsWith(`${keys.root}/${folders[folder]}`))
    .map(([name, , kind]) => {
      try {
        return [key, { kind: name, value: decodeObject(kind, key, value) }] as const;
      } catch (error) {
        return [key, { kind: name, reason: describeError(error) }] as const;
      }
    });
}

function readObject({ root }: Keys, item: Item): Found[1] {
  const { stored, unreadable } = decodeStoredObject(root, item);
  if (unreadable === undefined) return { kind: 'object', value: stored.object };
  return { kind: 'object', reason: unreadable.problems.map(({ message }) => message).join('; ') };
}
