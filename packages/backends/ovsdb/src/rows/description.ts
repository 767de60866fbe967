/** Rows of any table as data: what is written, under which name a row is found, and where it hangs. */
import type { ValueInput } from '@podwire/ovsdb';

/** A table of which rows are made, found or named. */
export interface TableDescription {
  /** Stands for a row in messages: `port`. */
  readonly word: string;
  /** The column with the name of a row; absent where rows have no name, and are found by our mark. */
  readonly name?: string;
  /**
   * The sets of other rows of which a row hangs in one: without it, the database deletes the row. Absent where rows stand
   * for themselves, and for rows that hang in a column of their own resource.
   */
  readonly parents?: readonly ParentDescription[];
  /** Sets of other rows that a row may be a member of, and outlives. */
  readonly groups?: { readonly table: string; readonly column: string };
  /** Columns that are read: those that resources write, and sets that have other rows. */
  readonly columns: readonly string[];
  /** Columns that the program behind the database writes, and no resource: what it reports. */
  readonly reports?: readonly string[];
  /** Keys of `external_ids` that are reports. */
  readonly reportedPairs?: readonly string[];
  /** Key of `external_ids` by which another program knows rows that it makes in ours: they go with ours. */
  readonly madeBeside?: string;
}

export interface ParentDescription {
  readonly table: string;
  readonly column: string;
  /** The parent is the only row of its table, and is made where it is missing. */
  readonly single?: boolean;
}

/** Rows come after those of earlier tables, and are removed before them. */
export type Tables = { readonly [table: string]: TableDescription };

export interface DatabaseDescription {
  /** `Open_vSwitch` */
  readonly database: string;
  readonly tables: Tables;
  /** Absent where the program behind the database does not say how far it is. */
  readonly progress?: Progress;
  /** The table whose only row has settings in `external_ids`; absent where there are none. */
  readonly settings?: string;
}

/** Two columns of the only row of a table: the program writes `asked` into `done` when it has acted on all that was there. */
export interface Progress {
  readonly table: string;
  readonly asked: string;
  /** Among the table's reports. */
  readonly done: string;
}

/** A value, or rows of a table by their names: the column has their uuids. `undefined` is the empty optional. */
export type ColumnValue =
  | { readonly value: ValueInput }
  | { readonly table: string; readonly to: string | undefined }
  | { readonly table: string; readonly toEach: readonly string[] }
  | { readonly table: string; readonly toEachBy: { readonly [number: string]: string } };

/** A row by its name; that of the only row of a table is empty. */
export interface RowName {
  readonly table: string;
  readonly name: string;
}

/** One row of a resource. */
export interface WantedRow {
  readonly table: string;
  readonly name: string;
  readonly columns: { readonly [column: string]: ColumnValue };
  /** The row that it hangs in; absent where the parent is single, or where there is none. */
  readonly parent?: RowName;
  /** Names of the rows of ours that have it in their set. Those of others may have it, too. */
  readonly groups?: readonly string[];
  readonly externalIds?: { readonly [key: string]: string };
}

/** The first row is the resource itself; the others are parts, which the database deletes with it. */
export type WantedRows = readonly [WantedRow, ...WantedRow[]];

/** Key of our mark in `external_ids`: the value is the {@link idOf} of the resource. */
export const MARK = 'podwire';
/** Names of the other keys in `external_ids` that are ours, where there are any: keys of other programs stay. */
export const OWN_KEYS = 'podwire-keys';
export const EXTERNAL_IDS = 'external_ids';

/** `Port/web0` */
export const idOf = (table: string, name: string): string => `${table}/${name}`;

/** The key of the resource that has this id; ids are unique in one database. */
export const keyFor = (database: string, id: string): string => `${database}/${id}`;

/** Columns of a table that rows of other tables hang in, by the table of these. */
export const childColumnsOf = (tables: Tables, table: string): readonly (readonly [string, string])[] =>
  Object.entries(tables).flatMap(([child, { parents = [] }]) =>
    parents.filter((parent) => parent.table === table).map(({ column }) => [child, column] as const),
  );

/** The row that a row hangs in. */
export function parentOf(tables: Tables, { table, parent }: WantedRow): RowName | undefined {
  const single = tables[table]!.parents?.find((one) => one.single === true);
  return single === undefined ? parent : { table: single.table, name: '' };
}

/** Columns of a table that have the rows of other tables, which outlive it, by the table of these. */
export const memberColumnsOf = (tables: Tables, table: string): readonly (readonly [string, string])[] =>
  Object.entries(tables).flatMap(([member, { groups }]) =>
    groups?.table === table ? [[member, groups.column] as const] : [],
  );
