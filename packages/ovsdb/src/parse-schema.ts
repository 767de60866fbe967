/** Reads a schema: a file `*.ovsschema`, or the answer to `get_schema`. */
import { compact } from '@podwire/platform';
import { decodeAtom } from './decode.js';
import { unexpected } from './errors.js';
import type {
  AtomicType,
  BaseType,
  ColumnSchema,
  ColumnType,
  DatabaseSchema,
  TableSchema,
} from './schema.js';
import { isRecord } from './values.js';

/** Names that begin with an underscore belong to the server, such as that of its database `_Server` (RFC 7047, section 3.2). */
const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;
const databasePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @throws ProtocolError that names the place */
export function parseSchema(json: unknown): DatabaseSchema {
  const { name, version, tables } = requireRecord(json, 'the schema');
  if (typeof name !== 'string' || !databasePattern.test(name)) throw unexpected('the schema', 'a name', name);
  if (version !== undefined && typeof version !== 'string') throw unexpected(name, 'a version', version);
  const entries = readNamed(tables, `${name}: tables`);
  // A schema without any root table is from before there were some: all of its tables are.
  const hasRoots = entries.some(([, table]) => isRecord(table) && table['isRoot'] === true);
  const parse = ([table, value]: readonly [string, unknown]): [string, TableSchema] => [
    table,
    parseTable(value, `table ${table}`, !hasRoots),
  ];
  return { name, version, tables: new Map(entries.map(parse)) };
}

function parseTable(json: unknown, place: string, isRoot: boolean): TableSchema {
  const table = requireRecord(json, place);
  const columns = new Map(
    readNamed(table['columns'], `${place}: columns`).map(([name, value]): [string, ColumnSchema] => [
      name,
      parseColumn(value, `${place}, column ${name}`),
    ]),
  );
  const maxRows = table['maxRows'] ?? Infinity;
  if (typeof maxRows !== 'number' || !(maxRows >= 1)) throw unexpected(place, 'a positive maxRows', maxRows);
  const indexes = parseIndexes(table['indexes'] ?? [], columns, place);
  return { columns, maxRows, isRoot: isRoot || table['isRoot'] === true, indexes };
}

function parseIndexes(
  json: unknown,
  columns: ReadonlyMap<string, ColumnSchema>,
  place: string,
): readonly (readonly string[])[] {
  const isColumn = (name: unknown): name is string => typeof name === 'string' && columns.has(name);
  const isIndex = (index: unknown): index is readonly string[] =>
    Array.isArray(index) && index.every(isColumn);
  if (!Array.isArray(json) || !json.every(isIndex))
    throw unexpected(place, 'lists of columns as indexes', json);
  return json;
}

function parseColumn(json: unknown, place: string): ColumnSchema {
  const column = requireRecord(json, place);
  const type = parseColumnType(column['type'], place);
  // A weak reference must be able to go (ovsdb-server(7), section 3.2).
  const mutable =
    column['mutable'] !== false || type.key.refType === 'weak' || type.value?.refType === 'weak';
  return { type, mutable, ephemeral: column['ephemeral'] === true };
}

function parseColumnType(json: unknown, place: string): ColumnType {
  if (typeof json === 'string') return { key: parseBaseType(json, place), min: 1, max: 1 };
  const { key, value, min = 1, max = 1 } = requireRecord(json, `${place}: type`);
  if (min !== 0 && min !== 1) throw unexpected(place, 'a min of 0 or 1', min);
  const most = max === 'unlimited' ? Infinity : max;
  if (typeof most !== 'number' || !(most >= 1)) throw unexpected(place, 'a max of at least 1', max);
  const types = { key: parseBaseType(key, place), min, max: most } as const;
  return value === undefined ? types : { ...types, value: parseBaseType(value, place) };
}

const atomicTypes: readonly unknown[] = ['integer', 'real', 'boolean', 'string', 'uuid'];
const isAtomicType = (type: unknown): type is AtomicType => atomicTypes.includes(type);

function parseBaseType(json: unknown, place: string): BaseType {
  if (isAtomicType(json)) return { type: json };
  const base = requireRecord(json, place);
  const { type, refTable } = base;
  if (!isAtomicType(type)) throw unexpected(place, 'an atomic type', type);
  if (refTable !== undefined && typeof refTable !== 'string') throw unexpected(place, 'a refTable', refTable);
  const bound = (name: string): number | undefined => {
    const limit = base[name];
    if (limit !== undefined && typeof limit !== 'number')
      throw unexpected(place, `a number as ${name}`, limit);
    return limit;
  };
  return compact({
    type,
    enum: base['enum'] === undefined ? undefined : parseEnum(base['enum'], type, place),
    minInteger: bound('minInteger'),
    maxInteger: bound('maxInteger'),
    minReal: bound('minReal'),
    maxReal: bound('maxReal'),
    minLength: bound('minLength'),
    maxLength: bound('maxLength'),
    refTable,
    refType: refTable === undefined ? undefined : base['refType'] === 'weak' ? 'weak' : 'strong',
  } as const);
}

function parseEnum(json: unknown, type: AtomicType, place: string): NonNullable<BaseType['enum']> {
  const isSet = Array.isArray(json) && json[0] === 'set' && Array.isArray(json[1]);
  const atoms = isSet ? (json[1] as readonly unknown[]) : [json];
  return atoms.map((atom) => decodeAtom(atom, type, place));
}

function readNamed(json: unknown, place: string): readonly (readonly [string, unknown])[] {
  const entries = Object.entries(requireRecord(json, place));
  for (const [name] of entries) if (!namePattern.test(name)) throw unexpected(place, 'a name', name);
  return entries;
}

function requireRecord(json: unknown, place: string): { readonly [key: string]: unknown } {
  if (!isRecord(json)) throw unexpected(place, 'an object', json);
  return json;
}
