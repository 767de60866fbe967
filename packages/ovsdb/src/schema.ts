/** Schema of a database (RFC 7047, section 3.2). */
import type { Atom } from './values.js';

export type AtomicType = 'integer' | 'real' | 'boolean' | 'string' | 'uuid';

/** Type of one atom, with its constraints. */
export interface BaseType {
  readonly type: AtomicType;
  readonly enum?: readonly Atom[];
  readonly minInteger?: number;
  readonly maxInteger?: number;
  readonly minReal?: number;
  readonly maxReal?: number;
  /** Of a text, in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The table whose rows a `uuid` names. */
  readonly refTable?: string;
  /** The row of a strong reference must exist, and stays because of it. A weak reference goes when its row goes. */
  readonly refType?: 'strong' | 'weak';
}

export interface ColumnType {
  readonly key: BaseType;
  /** Only of maps. */
  readonly value?: BaseType;
  readonly min: 0 | 1;
  /** `Infinity` when it is unlimited. */
  readonly max: number;
}

export interface ColumnSchema {
  readonly type: ColumnType;
  /** False: an insert sets the column, and nothing changes it afterwards. */
  readonly mutable: boolean;
  readonly ephemeral: boolean;
}

export interface TableSchema {
  readonly columns: ReadonlyMap<string, ColumnSchema>;
  /** Most rows of the table; `Infinity` when it is unlimited. */
  readonly maxRows: number;
  /** False: a row goes when no strong reference to it is left. */
  readonly isRoot: boolean;
  /** Each is a list of columns whose values together are unique. */
  readonly indexes: readonly (readonly string[])[];
}

export interface DatabaseSchema {
  readonly name: string;
  readonly version: string | undefined;
  readonly tables: ReadonlyMap<string, TableSchema>;
}

const uuidColumn: ColumnSchema = {
  type: { key: { type: 'uuid' }, min: 1, max: 1 },
  mutable: false,
  ephemeral: false,
};

/** Columns that every table has beside those of its schema. */
const implicitColumns: ReadonlyMap<string, ColumnSchema> = new Map([
  ['_uuid', uuidColumn],
  ['_version', uuidColumn],
]);

/** A column of the schema, or one of the two that every table has: `_uuid` and `_version`. */
export const findColumn = (table: TableSchema, name: string): ColumnSchema | undefined =>
  table.columns.get(name) ?? implicitColumns.get(name);

/** The shape of a column's values: one atom, an atom or nothing, a set, a map. */
export type Shape = 'one' | 'optional' | 'set' | 'map';

export function shapeOf({ value, min, max }: ColumnType): Shape {
  if (value !== undefined) return 'map';
  if (max > 1) return 'set';
  return min === 1 ? 'one' : 'optional';
}
