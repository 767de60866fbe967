/** Monitors of one connection, and the updates for them (ovsdb-server(7), 4.1.12 to 4.1.16). */
import { defaultValue } from '../cache/difference.js';
import type { Row } from '../decode.js';
import { findColumn, shapeOf, type TableSchema } from '../schema.js';
import { areSameValues, type Atom, isRecord, type Json, type Value } from '../values.js';
import { type Predicate, readCondition } from './conditions.js';
import type { Database } from './database.js';
import { keysOf, writeDatum } from './datum.js';
import type { RowChange } from './draft.js';
import { syntaxError } from './failure.js';

interface MonitoredTable {
  readonly schema: TableSchema;
  readonly columns: readonly string[];
  readonly fits: Predicate;
}

/** A monitor with its tables. */
export interface FakeMonitor {
  readonly id: Json;
  readonly database: Database;
  readonly method: 'update2' | 'update3';
  readonly tables: ReadonlyMap<string, MonitoredTable>;
}

/** @throws Failure */
export function readTables(json: unknown, { options: { schema } }: Database): FakeMonitor['tables'] {
  if (!isRecord(json)) throw syntaxError('the requests of a monitor are an object');
  return new Map(
    Object.entries(json).map(([name, requests]): [string, MonitoredTable] => {
      const table = schema.tables.get(name);
      const request: unknown = Array.isArray(requests) ? requests[0] : requests;
      if (table === undefined || !isRecord(request)) throw syntaxError(`there is no table ${name}`);
      return [name, readRequest(request, table)];
    }),
  );
}

function readRequest(request: { readonly [member: string]: unknown }, table: TableSchema): MonitoredTable {
  const { columns = [...table.columns.keys()], where = [] } = request;
  if (!Array.isArray(columns) || !Array.isArray(where)) throw syntaxError('lists are expected');
  for (const name of columns as readonly unknown[])
    if (findColumn(table, String(name)) === undefined)
      throw syntaxError(`there is no column ${String(name)}`);
  const names = (columns as readonly unknown[]).map(String);
  const resolve = (): never => {
    throw syntaxError('a monitor has no names of rows');
  };
  const conditions = (where as readonly unknown[]).map((each) => readCondition(each, table, resolve));
  const fits: Predicate = (row) => conditions.length === 0 || conditions.some(({ holds }) => holds(row));
  return { schema: table, columns: names, fits };
}

/** All rows that a monitor follows, as their initial state. */
export function writeInitial({ tables, database }: FakeMonitor): Json {
  return collect(tables, (name, table) =>
    Array.from(database.tables.get(name)?.values() ?? [])
      .filter(table.fits)
      .map((row) => [row['_uuid'] as string, { initial: writeRow(row, table) }]),
  );
}

/** The changes as a monitor reports them; `undefined` when it follows none of them. */
export function writeChanges({ tables }: FakeMonitor, changes: readonly RowChange[]): Json | undefined {
  const updates = collect(tables, (name, table) =>
    changes
      .filter((change) => change.table === name)
      .flatMap((change): [string, Json][] => {
        const update = writeChange(change, table);
        return update === undefined ? [] : [[change.uuid, update]];
      }),
  );
  return Object.keys(updates).length === 0 ? undefined : updates;
}

function collect(
  tables: FakeMonitor['tables'],
  rowsOf: (name: string, table: MonitoredTable) => readonly (readonly [string, Json])[],
): { readonly [table: string]: Json } {
  const entries = Array.from(tables, ([name, table]) => [name, rowsOf(name, table)] as const);
  return Object.fromEntries(
    entries.filter(([, rows]) => rows.length > 0).map(([name, rows]) => [name, Object.fromEntries(rows)]),
  );
}

function writeChange({ before, after }: RowChange, table: MonitoredTable): Json | undefined {
  const didFit = before !== undefined && table.fits(before);
  const fits = after !== undefined && table.fits(after);
  if (!fits) return didFit ? { delete: null } : undefined;
  if (!didFit) return { insert: writeRow(after, table) };
  const changed = table.columns.filter((column) => !areSameValues(before[column], after[column]));
  if (changed.length === 0) return undefined;
  return {
    modify: Object.fromEntries(
      changed.map((column) => [column, writeDifference(before, after, column, table.schema)]),
    ),
  };
}

/** Without the columns that have the default of their type. */
function writeRow(row: Row, { schema, columns }: MonitoredTable): Json {
  return Object.fromEntries(
    columns.flatMap((name): [string, Json][] => {
      const { type } = findColumn(schema, name)!;
      return areSameValues(row[name], defaultValue(type)) ? [] : [[name, writeDatum(row[name], type)]];
    }),
  );
}

function writeDifference(before: Row, after: Row, name: string, table: TableSchema): Json {
  const { type } = findColumn(table, name)!;
  const shape = shapeOf(type);
  const [old, now] = [before[name], after[name]];
  if (shape === 'set') return writeDatum(new Set(differenceOf(keysOf(old), keysOf(now))), type);
  if (shape === 'map') return writeDatum(differenceOfMaps(old, now), type);
  return writeDatum(now, type);
}

function differenceOf(old: readonly Atom[], now: readonly Atom[]): readonly Atom[] {
  const [before, after] = [new Set(old), new Set(now)];
  return [...old.filter((atom) => !after.has(atom)), ...now.filter((atom) => !before.has(atom))];
}

function differenceOfMaps(old: Value, now: Value): Value {
  const [before, after] = [old, now] as [ReadonlyMap<Atom, Atom>, ReadonlyMap<Atom, Atom>];
  return new Map([
    ...[...before].filter(([key]) => !after.has(key)),
    ...[...after].filter(([key, item]) => before.get(key) !== item),
  ]);
}
