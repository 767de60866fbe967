/** Rows of a database as a monitor has reported them. */
import { isUuid, decodeRow, type Row } from '../decode.js';
import { ProtocolError, unexpected } from '../errors.js';
import { findColumn, type TableSchema } from '../schema.js';
import { areSameValues, isRecord, type Value } from '../values.js';
import { applyDifference, defaultValue } from './difference.js';

/** A change of one row, with the whole row before and after it. */
export type Change<R = Row> =
  | { readonly type: 'insert'; readonly table: string; readonly uuid: string; readonly after: R }
  | {
      readonly type: 'modify';
      readonly table: string;
      readonly uuid: string;
      readonly before: R;
      readonly after: R;
    }
  | { readonly type: 'delete'; readonly table: string; readonly uuid: string; readonly before: R };

/** The columns of a table that are followed. */
export interface FollowedTable {
  readonly schema: TableSchema;
  readonly columns: readonly string[];
}

type Rows = Map<string, Row>;

export class Replica {
  #followed: ReadonlyMap<string, FollowedTable>;
  #tables: ReadonlyMap<string, Rows>;

  constructor(followed: ReadonlyMap<string, FollowedTable>) {
    this.#followed = followed;
    this.#tables = emptyTables(followed.keys());
  }

  rows(table: string): ReadonlyMap<string, Row> {
    const rows = this.#tables.get(table);
    if (rows === undefined) throw new TypeError(`the table ${table} is not followed`);
    return rows;
  }

  /** Takes `<table-updates2>`, all or nothing. @throws ProtocolError: the updates do not fit the rows */
  apply(updates: unknown): readonly Change[] {
    const changes = readUpdates(updates).flatMap(([table, rows]) =>
      Object.entries(rows).map(([uuid, update]) => this.#read(table, uuid, update, this.#tables)),
    );
    for (const change of changes) record(this.#tables, change);
    return changes;
  }

  /** Takes the whole content anew, perhaps of other columns. @returns how it differs from the old one @throws ProtocolError */
  replace(updates: unknown, followed: ReadonlyMap<string, FollowedTable>): readonly Change[] {
    const tables = emptyTables(followed.keys());
    this.#followed = followed;
    for (const [table, rows] of readUpdates(updates))
      for (const [uuid, update] of Object.entries(rows))
        record(tables, this.#read(table, uuid, update, tables));
    const changes = [...followed.keys()].flatMap((table) =>
      compareRows(table, this.#tables.get(table)!, tables.get(table)!),
    );
    this.#tables = tables;
    return changes;
  }

  #read(table: string, uuid: string, update: unknown, tables: ReadonlyMap<string, Rows>): Change {
    const followed = this.#followed.get(table);
    const before = tables.get(table)?.get(uuid);
    const place = `table ${table}, row ${uuid}`;
    if (followed === undefined || !isUuid(uuid) || !isRecord(update))
      throw unexpected(place, 'an update of a followed table', update);
    const inserted = update['initial'] ?? update['insert'];
    if (inserted !== undefined && before === undefined)
      return { type: 'insert', table, uuid, after: readInsert(inserted, uuid, followed, place) };
    if ('modify' in update && before !== undefined)
      return {
        type: 'modify',
        table,
        uuid,
        before,
        after: readModify(update['modify'], before, followed, place),
      };
    if ('delete' in update && before !== undefined) return { type: 'delete', table, uuid, before };
    throw new ProtocolError(
      `${place}: ${Object.keys(update).join()} of a row that is ${before ? '' : 'not '}there`,
    );
  }
}

const emptyTables = (names: Iterable<string>): ReadonlyMap<string, Rows> =>
  new Map(Array.from(names, (name) => [name, new Map<string, Row>()]));

function record(tables: ReadonlyMap<string, Rows>, change: Change): void {
  const rows = tables.get(change.table)!;
  if (change.type === 'delete') rows.delete(change.uuid);
  else rows.set(change.uuid, change.after);
}

function readUpdates(json: unknown): readonly (readonly [string, { readonly [uuid: string]: unknown }])[] {
  if (!isRecord(json)) throw unexpected('the updates', 'tables', json);
  return Object.entries(json).map(([table, rows]) => {
    if (!isRecord(rows)) throw unexpected(`table ${table}`, 'rows', rows);
    return [table, rows] as const;
  });
}

/** Columns that have the default of their type are left out of an insert. */
function readInsert(json: unknown, uuid: string, { schema, columns }: FollowedTable, place: string): Row {
  const given = decodeRow(json, schema, place);
  const row: Record<string, Value> = { _uuid: uuid };
  for (const name of columns)
    row[name] = Object.hasOwn(given, name) ? given[name] : defaultValue(findColumn(schema, name)!.type);
  return row;
}

function readModify(json: unknown, before: Row, { schema }: FollowedTable, place: string): Row {
  const row: Record<string, Value> = { ...before };
  for (const [name, difference] of Object.entries(decodeRow(json, schema, place))) {
    if (!Object.hasOwn(before, name)) throw new ProtocolError(`${place}: the column ${name} is not followed`);
    row[name] = applyDifference(before[name], difference, findColumn(schema, name)!.type);
  }
  return row;
}

function compareRows(table: string, old: Rows, now: Rows): readonly Change[] {
  const changes: Change[] = [];
  for (const [uuid, before] of old) if (!now.has(uuid)) changes.push({ type: 'delete', table, uuid, before });
  for (const [uuid, after] of now) {
    const before = old.get(uuid);
    if (before === undefined) changes.push({ type: 'insert', table, uuid, after });
    else if (!areSameRows(before, after)) changes.push({ type: 'modify', table, uuid, before, after });
  }
  return changes;
}

function areSameRows(one: Row, other: Row): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => areSameValues(one[name], other[name]))
  );
}
