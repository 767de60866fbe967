import { encodeSet, encodeValue, requireName } from '../encode.js';
import { type ColumnType, type DatabaseSchema, findColumn, shapeOf, type TableSchema } from '../schema.js';
import type { Json, ValueInput } from '../values.js';
import type { AnyDatabase, Condition, Mutation, Operation } from './types.js';

type Values = AnyDatabase[string]['values'];

/** A table, with what it is called in errors. */
interface Place {
  readonly table: TableSchema;
  readonly name: string;
}

/** The JSON of an operation. @throws TypeError, RangeError: the schema does not have it, or a value does not fit its column */
export function encodeOperation(operation: Operation, schema: DatabaseSchema): Json {
  if (operation.op === 'comment') return { op: 'comment', comment: operation.comment };
  if (operation.op === 'abort') return { op: 'abort' };
  const { op, table: name } = operation;
  const table = schema.tables.get(name);
  if (table === undefined) throw new TypeError(`${op}: the database ${schema.name} has no table ${name}`);
  const place = { table, name: `${op}: table ${name}` };
  if (operation.op === 'insert') return encodeInsert(operation, place);
  const where = encodeWhere(operation.where, place);
  const common = { op, table: name, where };
  switch (operation.op) {
    case 'select':
      return { ...common, ...(operation.columns && { columns: operation.columns }) };
    case 'update':
      return { ...common, row: encodeRow(operation.row, place) };
    case 'mutate':
      return { ...common, mutations: operation.mutations.map((mutation) => encodeMutation(mutation, place)) };
    case 'delete':
      return common;
    case 'wait': {
      const { columns, until, rows, timeout = 0 } = operation;
      return { ...common, columns, until, rows: rows.map((row) => encodeRow(row, place)), timeout };
    }
  }
}

function encodeInsert(
  { table, row, uuidName, uuid }: Extract<Operation, { op: 'insert' }>,
  place: Place,
): Json {
  return {
    op: 'insert',
    table,
    row: encodeRow(row, place),
    ...(uuidName === undefined ? {} : { 'uuid-name': requireName(uuidName, place.name) }),
    ...(uuid === undefined ? {} : { uuid }),
  };
}

/** Conditions as in an operation and as in a monitor. */
export const encodeWhere = (where: readonly Condition<Values>[], place: Place): readonly Json[] =>
  where.map(([column, test, value]) => [column, test, encodeColumn(column, value, place)]);

const encodeRow = (row: Values, place: Place): Json =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, encodeColumn(column, value, place)]),
  );

function encodeColumn(column: string, value: ValueInput, place: Place): Json {
  return encodeValue(value, requireColumn(column, place), `${place.name}, column ${column}`);
}

function encodeMutation([column, mutator, value]: Mutation<Values>, place: Place): Json {
  const type = requireColumn(column, place);
  const name = `${place.name}, column ${column}`;
  const isArithmetic = mutator.endsWith('=');
  // Of a set of integers each is changed by one number.
  if (isArithmetic) return [column, mutator, encodeValue(value, { ...type, min: 1, max: 1 }, name)];
  const isListOfKeys = shapeOf(type) === 'map' && (Array.isArray(value) || value instanceof Set);
  if (isListOfKeys) return [column, mutator, encodeSet(value as Iterable<unknown>, type.key.type, name)];
  return [column, mutator, encodeValue(value, type, name)];
}

function requireColumn(name: string, place: Place): ColumnType {
  const column = findColumn(place.table, name);
  if (column === undefined) throw new TypeError(`${place.name} has no column ${name}`);
  return column.type;
}
