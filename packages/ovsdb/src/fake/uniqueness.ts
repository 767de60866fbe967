/** Indexes and the number of rows at the end of a transaction (RFC 7047, section 3.2). */
import type { Row } from '../decode.js';
import type { Value } from '../values.js';
import { keysOf } from './datum.js';
import type { Draft, RowChange } from './draft.js';
import { constraintViolation } from './failure.js';

/** The uuid of each row by the values of an index, by `table/columns`. */
export type UniqueKeys = Map<string, Map<string, string>>;

/** @throws Failure */
export function checkRowCounts(draft: Draft, changes: readonly RowChange[]): void {
  for (const table of new Set(changes.map((change) => change.table))) {
    const { maxRows } = draft.schema.tables.get(table)!;
    if (maxRows === Infinity) continue;
    if ([...draft.rows(table)].length > maxRows)
      throw constraintViolation(`the table ${table} would have more than ${maxRows} rows`);
  }
}

/** Updates the keys for the changes. @throws Failure: two rows have the same values; the keys are as before then */
export function updateKeys(keys: UniqueKeys, draft: Draft, changes: readonly RowChange[]): void {
  const undo: (() => void)[] = [];
  try {
    for (const [table, { indexes }] of draft.schema.tables) {
      const ofTable = indexes.length === 0 ? [] : changes.filter((change) => change.table === table);
      for (const columns of indexes)
        updateIndex(indexOf(keys, `${table}/${columns.join()}`), columns, ofTable, undo);
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

function indexOf(keys: UniqueKeys, name: string): Map<string, string> {
  const index = keys.get(name) ?? new Map<string, string>();
  keys.set(name, index);
  return index;
}

function updateIndex(
  index: Map<string, string>,
  columns: readonly string[],
  changes: readonly RowChange[],
  undo: (() => void)[],
): void {
  const set = (key: string, uuid: string | undefined): void => {
    const old = index.get(key);
    undo.push(() => (old === undefined ? index.delete(key) : index.set(key, old)));
    if (uuid === undefined) index.delete(key);
    else index.set(key, uuid);
  };
  for (const { before } of changes) if (before !== undefined) set(keyOf(before, columns), undefined);
  for (const { uuid, after } of changes) {
    if (after === undefined) continue;
    const key = keyOf(after, columns);
    if (index.has(key)) throw constraintViolation(`two rows have the same ${columns.join(', ')}`);
    set(key, uuid);
  }
}

const keyOf = (row: Row, columns: readonly string[]): string =>
  JSON.stringify(columns.map((column) => describe(row[column])));

const describe = (value: Value): unknown =>
  value instanceof Map ? [...value].sort() : [...keysOf(value)].sort();
