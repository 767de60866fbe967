/** The rows of a database as the cache has them, found by their names. */
import { createHash } from 'node:crypto';
import type { Cache, CacheIndexes, MonitorRequest, AnyDatabase } from '@podwire/ovsdb';
import {
  EXTERNAL_IDS,
  idOf,
  MARK,
  type ParentDescription,
  type TableDescription,
  type Tables,
} from './description.js';

export type AnyRow = AnyDatabase[string]['row'];
export type AnyCache = Cache<AnyDatabase>;

const noPairs: ReadonlyMap<string, string> = new Map();

export const pairsOf = (row: AnyRow): ReadonlyMap<string, string> =>
  (row[EXTERNAL_IDS] as ReadonlyMap<string, string> | undefined) ?? noPairs;

/** The id of the resource that the row belongs to; `undefined` when it is not ours. */
export const markOf = (row: AnyRow): string | undefined => pairsOf(row).get(MARK);

/** The name of a row; of a table without names that of its mark. */
export function nameOf(table: string, { name }: TableDescription, row: AnyRow): string | undefined {
  if (name !== undefined) return row[name] as string;
  const mark = markOf(row);
  return mark?.startsWith(`${table}/`) === true ? mark.slice(table.length + 1) : undefined;
}

export const requestFor = (tables: Tables): MonitorRequest<AnyDatabase> =>
  Object.fromEntries(
    Object.entries(tables).map(([table, { name, columns, reports = [] }]) => [
      table,
      { columns: [...new Set([...(name === undefined ? [] : [name]), ...columns, ...reports])] },
    ]),
  );

export const indexesFor = (tables: Tables): CacheIndexes<AnyDatabase, MonitorRequest<AnyDatabase>> =>
  Object.fromEntries(
    Object.entries(tables).map(([table, description]) => [
      table,
      { name: (row: AnyRow) => nameOf(table, description, row), mark: markOf },
    ]),
  );

/**
 * The uuid that a new row is given: the same for the same name, so that the database itself refuses a second one, also
 * after an answer that was lost.
 */
export function uuidFor(table: string, name: string): string {
  const hex = createHash('sha256').update(`podwire\0${table}\0${name}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** A row that another one hangs in, and the column with the set. */
export interface Parent extends ParentDescription {
  readonly uuid: string;
}

export class View {
  readonly tables: Tables;
  readonly #cache: AnyCache;

  constructor(tables: Tables, cache: AnyCache) {
    this.tables = tables;
    this.#cache = cache;
  }

  rows(table: string): ReadonlyMap<string, AnyRow> {
    return this.#cache.rows(table);
  }

  get(table: string, uuid: string): AnyRow | undefined {
    return this.#cache.get(table, uuid);
  }

  /** The row of this name: where others have it too, the one with the mark of this resource. */
  find(table: string, name: string, id?: string): AnyRow | undefined {
    const found = this.#cache.find(table, 'name', name);
    const first = found.find((row) => markOf(row) === id) ?? found[0];
    // The mark of a row without a name may have been taken away.
    return (
      first ?? (this.tables[table]!.name === undefined ? this.get(table, uuidFor(table, name)) : undefined)
    );
  }

  /** Rows with the mark of this resource. */
  findMarked(table: string, id: string): readonly AnyRow[] {
    return this.#cache.find(table, 'mark', id);
  }

  /** The only row of the table. */
  findSingle(table: string): AnyRow | undefined {
    return [...this.rows(table).values()][0];
  }

  /** Rows whose set in the column has the row. */
  findHolders(table: string, column: string, uuid: string): AnyRow[] {
    return [...this.rows(table).values()].filter((row) => (row[column] as ReadonlySet<string>).has(uuid));
  }

  /** All rows that a row of this table hangs in. */
  findParents(table: string, uuid: string): Parent[] {
    return (this.tables[table]!.parents ?? []).flatMap((parent) =>
      this.findHolders(parent.table, parent.column, uuid).map((row) => ({ ...parent, uuid: row._uuid })),
    );
  }

  /** The name of the row that a reference leads to; its uuid where it has no name, or another row is meant by it. */
  nameBehind(table: string, uuid: string): string {
    const row = this.get(table, uuid);
    const name = row === undefined ? undefined : nameOf(table, this.tables[table]!, row);
    const isMeant = name !== undefined && this.find(table, name, idOf(table, name))?._uuid === uuid;
    return isMeant ? name : uuid;
  }

  /** The id of a main row with our mark; `undefined` for parts and for rows of others. */
  ownIdOf(table: string, row: AnyRow): string | undefined {
    const name = nameOf(table, this.tables[table]!, row);
    const id = name === undefined ? undefined : idOf(table, name);
    return markOf(row) === id ? id : undefined;
  }
}
