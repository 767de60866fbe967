/** Operations of a transaction, one after the other on a draft (RFC 7047, section 5.2). */
import { defaultValue } from '../cache/difference.js';
import { isUuid, type Row } from '../decode.js';
import { findColumn, type TableSchema } from '../schema.js';
import { areSameValues, isRecord, type Json, type Value } from '../values.js';
import { type ReadCondition, readCondition } from './conditions.js';
import { readDatum, type ResolveName, writeDatum } from './datum.js';
import type { Draft } from './draft.js';
import { constraintViolation, Failure, syntaxError } from './failure.js';
import { readMutation } from './mutations.js';

/** A wait does not hold yet. */
export class Blocked extends Error {
  /** Milliseconds for which the client wants to wait; `Infinity` without a limit. */
  readonly timeout: number;

  constructor(timeout: number) {
    super('the "where" clause test failed');
    this.name = 'Blocked';
    this.timeout = timeout;
  }
}

export interface Execution {
  readonly draft: Draft;
  readonly names: Names;
  readonly createUuid: () => string;
}

/** Names that a transaction gives to its rows. */
export class Names {
  readonly #uuids = new Map<string, string>();
  readonly #declared = new Set<string>();
  readonly #createUuid: () => string;

  constructor(createUuid: () => string) {
    this.#createUuid = createUuid;
  }

  /** A name may be used before the row is inserted. */
  readonly resolve: ResolveName = (name) => {
    const uuid = this.#uuids.get(name) ?? this.#createUuid();
    this.#uuids.set(name, uuid);
    return uuid;
  };

  declare(name: string, uuid: string | undefined): string {
    if (this.#declared.has(name))
      throw new Failure('duplicate uuid-name', `${name} is the name of another row`);
    this.#declared.add(name);
    if (uuid !== undefined) this.#uuids.set(name, uuid);
    return this.resolve(name);
  }
}

type Operation = { readonly [member: string]: unknown };
type Execute = (operation: Operation, execution: Execution) => Json;

/** @throws Failure, Blocked */
export function execute(json: unknown, execution: Execution): Json {
  if (!isRecord(json)) throw syntaxError('an operation is an object');
  const run = executions.get(String(json['op']));
  if (run === undefined) throw syntaxError(`there is no operation ${String(json['op'])}`);
  return run(json, execution);
}

const executions = new Map<string, Execute>([
  ['insert', insert],
  ['select', select],
  ['update', update],
  ['mutate', mutate],
  ['delete', remove],
  ['wait', wait],
  ['comment', () => ({})],
  ['commit', () => ({})],
  ['abort', abort],
]);

function abort(): never {
  throw new Failure('aborted', 'aborted by request');
}

function insert(operation: Operation, { draft, names, createUuid }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const { uuid: chosen, 'uuid-name': label } = operation;
  if (chosen !== undefined && !isUuid(chosen)) throw syntaxError('a uuid is expected');
  const uuid = typeof label === 'string' ? names.declare(label, chosen) : (chosen ?? createUuid());
  if (draft.isTaken(name, uuid)) throw new Failure('duplicate uuid', `there was a row ${uuid}`);
  const given = readRow(operation['row'], table, names.resolve);
  const row: Record<string, Value> = { _uuid: uuid, _version: createUuid() };
  for (const [column, { type }] of table.columns)
    row[column] = Object.hasOwn(given, column) ? given[column] : defaultValue(type);
  draft.put(name, uuid, row);
  return { uuid: ['uuid', uuid] };
}

function select(operation: Operation, { draft, names }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const columns = readColumns(operation['columns'], table) ?? ['_uuid', '_version', ...table.columns.keys()];
  const write = (row: Row): Json =>
    Object.fromEntries(
      columns.map((column) => [column, writeDatum(row[column], findColumn(table, column)!.type)]),
    );
  const rows = distinct(findRows(operation, name, table, draft, names), columns);
  return { rows: rows.map(write) };
}

function update(operation: Operation, { draft, names }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const values = readRow(operation['row'], table, names.resolve);
  for (const column of Object.keys(values))
    if (findColumn(table, column)?.mutable !== true)
      throw constraintViolation(`the column ${column} is immutable`);
  const rows = findRows(operation, name, table, draft, names);
  for (const row of rows) draft.put(name, row['_uuid'] as string, { ...row, ...values });
  return { count: rows.length };
}

function mutate(operation: Operation, { draft, names }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const mutations = readList(operation['mutations']).map((json) => readMutation(json, table, names.resolve));
  const rows = findRows(operation, name, table, draft, names);
  for (const row of rows) {
    const values: Record<string, Value> = { ...row };
    for (const { column, change } of mutations) values[column] = change(values[column]);
    draft.put(name, row['_uuid'] as string, values);
  }
  return { count: rows.length };
}

function remove(operation: Operation, { draft, names }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const rows = findRows(operation, name, table, draft, names);
  for (const row of rows) draft.put(name, row['_uuid'] as string, undefined);
  return { count: rows.length };
}

function wait(operation: Operation, { draft, names }: Execution): Json {
  const [name, table] = readTable(operation, draft);
  const { until, timeout = Infinity } = operation;
  const columns = readColumns(operation['columns'], table) ?? [...table.columns.keys()];
  const expected = readList(operation['rows']).map((json) => ({
    ...defaultRow(table),
    ...readRow(json, table, names.resolve),
  }));
  if ((until !== '==' && until !== '!=') || typeof timeout !== 'number')
    throw syntaxError('a wait has a test and a timeout');
  const found = findRows(operation, name, table, draft, names);
  if (areSameRows(distinct(found, columns), distinct(expected, columns), columns) !== (until === '=='))
    throw new Blocked(timeout);
  return {};
}

const defaultRow = (table: TableSchema): Row =>
  Object.fromEntries(Array.from(table.columns, ([name, { type }]) => [name, defaultValue(type)]));

const areEqualIn = (one: Row, other: Row, columns: readonly string[]): boolean =>
  columns.every((column) => areSameValues(one[column], other[column]));

function areSameRows(some: readonly Row[], others: readonly Row[], columns: readonly string[]): boolean {
  return (
    some.length === others.length &&
    some.every((one) => others.some((other) => areEqualIn(one, other, columns)))
  );
}

/** A row with a uuid is distinct anyway. */
function distinct(rows: readonly Row[], columns: readonly string[]): readonly Row[] {
  if (columns.includes('_uuid')) return rows;
  const kept: Row[] = [];
  for (const row of rows) if (!kept.some((other) => areEqualIn(row, other, columns))) kept.push(row);
  return kept;
}

function readTable(operation: Operation, { schema }: Draft): readonly [string, TableSchema] {
  const name = String(operation['table']);
  const table = schema.tables.get(name);
  if (table === undefined) throw syntaxError(`there is no table ${name}`);
  return [name, table];
}

function readRow(json: unknown, table: TableSchema, resolve: ResolveName): Row {
  if (!isRecord(json)) throw syntaxError('a row is an object');
  const row: Record<string, Value> = {};
  for (const [name, value] of Object.entries(json)) {
    const column = findColumn(table, name);
    if (column === undefined) throw new Failure('unknown column', `there is no column ${name}`);
    row[name] = readDatum(value, column.type, resolve);
  }
  return row;
}

function readColumns(json: unknown, table: TableSchema): readonly string[] | undefined {
  if (json === undefined) return undefined;
  return readList(json).map((name) => {
    if (findColumn(table, String(name)) === undefined)
      throw syntaxError(`there is no column ${String(name)}`);
    return String(name);
  });
}

function readList(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw syntaxError('a list is expected');
  return json;
}

function findRows(
  operation: Operation,
  name: string,
  table: TableSchema,
  draft: Draft,
  names: Names,
): readonly Row[] {
  const conditions = readList(operation['where']).map((json) => readCondition(json, table, names.resolve));
  const candidates = findCandidates(conditions, name, draft);
  return candidates.filter((row) => conditions.every(({ holds }) => holds(row)));
}

function findCandidates(conditions: readonly ReadCondition[], name: string, draft: Draft): readonly Row[] {
  const uuid = conditions.find((condition) => condition.uuid !== undefined)?.uuid;
  if (uuid === undefined) return [...draft.rows(name)];
  const row = draft.get(name, uuid);
  return row === undefined ? [] : [row];
}
