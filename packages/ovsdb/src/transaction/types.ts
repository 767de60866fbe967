/** Operations of a transaction (RFC 7047, section 5.2), typed by the tables of a database. */
import type { Row } from '../decode.js';
import type { NamedUuid, ValueInput } from '../values.js';

/** Tables of a database as `podwire-ovsdb-types` writes them: rows to read, and values to write. */
export type DatabaseTypes = { readonly [table: string]: { readonly row: object; readonly values: object } };

/** A database whose schema the compiler does not know. */
export type AnyDatabase = {
  readonly [table: string]: {
    readonly row: Row & { readonly _uuid: string };
    readonly values: { readonly [column: string]: ValueInput };
  };
};

type Columns<V> = keyof V & string;
type ConditionFunction = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'includes' | 'excludes';
type Arithmetic = '+=' | '-=' | '*=' | '/=' | '%=';

/** A row fits when all of its conditions hold. */
export type Condition<V> =
  | readonly ['_uuid', '==' | '!=', string | NamedUuid]
  | { [C in Columns<V>]-?: readonly [C, ConditionFunction, V[C]] }[Columns<V>];

/** `delete` of a map takes pairs, or a list of keys. `insert` into a map leaves a key that is there as it is. */
export type Mutation<V> = {
  [C in Columns<V>]-?:
    | readonly [C, Arithmetic, number]
    | readonly [C, 'insert', V[C]]
    | readonly [C, 'delete', V[C] | readonly (string | number | NamedUuid)[]];
}[Columns<V>];

export interface Insert<K, V> {
  readonly op: 'insert';
  readonly table: K;
  /** Columns that are left out get the default of their type. */
  readonly row: V;
  /** Other operations of the transaction write `{ namedUuid }` for the new row. */
  readonly uuidName?: string;
  /** Chosen by the caller instead of the server; Open vSwitch 2.13 and later. */
  readonly uuid?: string;
}

export interface Select<K, R, V> {
  readonly op: 'select';
  readonly table: K;
  readonly where: readonly Condition<V>[];
  /** All when absent. */
  readonly columns?: readonly (keyof R & string)[];
}

export interface Update<K, V> {
  readonly op: 'update';
  readonly table: K;
  readonly where: readonly Condition<V>[];
  readonly row: V;
}

export interface Mutate<K, V> {
  readonly op: 'mutate';
  readonly table: K;
  readonly where: readonly Condition<V>[];
  readonly mutations: readonly Mutation<V>[];
}

export interface Delete<K, V> {
  readonly op: 'delete';
  readonly table: K;
  readonly where: readonly Condition<V>[];
}

/** A guard: the transaction fails (`timed out`) unless the rows that fit are, or are not, these. */
export interface Wait<K, V> {
  readonly op: 'wait';
  readonly table: K;
  readonly where: readonly Condition<V>[];
  readonly columns: readonly Columns<V>[];
  readonly until: '==' | '!=';
  readonly rows: readonly V[];
  /** Milliseconds that the server waits for it to become so; 0 when absent. */
  readonly timeout?: number;
}

/** Written into the log of the database. */
export interface Comment {
  readonly op: 'comment';
  readonly comment: string;
}

/** Fails the transaction. */
export interface Abort {
  readonly op: 'abort';
}

type TableOperation<K, R, V> =
  Insert<K, V> | Select<K, R, V> | Update<K, V> | Mutate<K, V> | Delete<K, V> | Wait<K, V>;

export type Operation<D extends DatabaseTypes = AnyDatabase> =
  | { [K in keyof D & string]: TableOperation<K, D[K]['row'], D[K]['values']> }[keyof D & string]
  | Comment
  | Abort;

type SelectedRow<R, O> = O extends { readonly columns: readonly (infer C)[] }
  ? Pick<R, Extract<C, keyof R>>
  : R;

/** The result of one operation. */
export type ResultOf<D extends DatabaseTypes, O> = O extends { readonly op: 'insert' }
  ? { readonly uuid: string }
  : O extends { readonly op: 'select'; readonly table: infer K extends keyof D }
    ? { readonly rows: readonly SelectedRow<D[K]['row'], O>[] }
    : O extends { readonly op: 'update' | 'mutate' | 'delete' }
      ? { readonly count: number }
      : object;

export type Results<D extends DatabaseTypes, Operations extends readonly unknown[]> = {
  readonly [Index in keyof Operations]: ResultOf<D, Operations[Index]>;
};
