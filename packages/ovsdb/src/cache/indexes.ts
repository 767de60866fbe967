import type { Row } from '../decode.js';
import type { Change } from './replica.js';

export type IndexKey = string | number | boolean | undefined;
/** Gives the key of a row; a row with `undefined` is not in the index. */
export type IndexFunction<R = Row> = (row: R) => IndexKey;
/** By table and name. */
export type IndexFunctions = { readonly [table: string]: { readonly [index: string]: IndexFunction } };

interface Index {
  readonly keyOf: IndexFunction;
  readonly uuids: Map<IndexKey, Set<string>>;
}

const none: ReadonlySet<string> = new Set();

/** Rows by the keys that the program has declared. */
export class Indexes {
  readonly #tables: ReadonlyMap<string, ReadonlyMap<string, Index>>;

  constructor(functions: IndexFunctions) {
    this.#tables = new Map(
      Object.entries(functions).map(([table, indexes]) => [table, createIndexes(indexes)]),
    );
  }

  find(table: string, name: string, key: IndexKey): ReadonlySet<string> {
    const index = this.#tables.get(table)?.get(name);
    if (index === undefined) throw new TypeError(`the table ${table} has no index ${name}`);
    return index.uuids.get(key) ?? none;
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes)
      for (const index of this.#tables.get(change.table)?.values() ?? []) applyTo(index, change);
  }
}

const createIndexes = (functions: IndexFunctions[string]): ReadonlyMap<string, Index> =>
  new Map(
    Object.entries(functions).map(([name, keyOf]): [string, Index] => [name, { keyOf, uuids: new Map() }]),
  );

function applyTo({ keyOf, uuids }: Index, change: Change): void {
  const before = change.type === 'insert' ? undefined : keyOf(change.before);
  const after = change.type === 'delete' ? undefined : keyOf(change.after);
  if (before === after) return;
  const old = uuids.get(before);
  old?.delete(change.uuid);
  if (old?.size === 0) uuids.delete(before);
  if (after === undefined) return;
  const now = uuids.get(after) ?? new Set();
  uuids.set(after, now.add(change.uuid));
}
