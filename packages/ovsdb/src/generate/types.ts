/** TypeScript types of a database, out of its schema. */
import {
  type BaseType,
  type ColumnSchema,
  type ColumnType,
  type DatabaseSchema,
  shapeOf,
  type TableSchema,
} from '../schema.js';

/**
 * Writes a module with an interface for the rows of each table (`BridgeRow`), one for the values that are written (`BridgeValues`), and
 * a type of the whole database (`OpenVSwitchDatabase`) for `OvsdbClient`.
 */
export function generateTypes(schema: DatabaseSchema): string {
  const names = nameTables([...schema.tables.keys()]);
  const tables = Array.from(schema.tables, ([table, { columns }]) =>
    writeTable(table, names.get(table)!, columns),
  );
  const members = Array.from(names, ([table, name]) =>
    member(table, `{ readonly row: ${name}Row; readonly values: ${name}Values }`),
  );
  const hasReferences = [...schema.tables.values()].some(hasUuids);
  return [
    `// Types of the database ${schema.name}${schema.version === undefined ? '' : `, version ${schema.version}`}. Written by podwire-ovsdb-types.`,
    ...(hasReferences
      ? [
          "import type { NamedUuid } from '@podwire/ovsdb';",
          '',
          '/** A row, or one of the same transaction. */',
          'type Reference = string | NamedUuid;',
        ]
      : []),
    '',
    ...tables,
    `/** All tables of ${schema.name}. */`,
    // An interface would not fit a type with any tables.
    `export type ${toTypeName(schema.name)}Database = {`,
    ...members,
    '};',
    '',
  ].join('\n');
}

/** `Open_vSwitch` becomes `OpenVSwitch`. */
const toTypeName = (name: string): string =>
  name
    .split('_')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');

/** Two tables that would have the same name keep their own. */
function nameTables(tables: readonly string[]): ReadonlyMap<string, string> {
  const names = tables.map(toTypeName);
  const isUnique = (name: string): boolean => names.filter((other) => other === name).length === 1;
  return new Map(tables.map((table, index) => [table, isUnique(names[index]!) ? names[index]! : table]));
}

const typesOf = ({ type: { key, value } }: ColumnSchema): readonly BaseType[] =>
  value === undefined ? [key] : [key, value];

const hasUuids = ({ columns }: TableSchema): boolean =>
  [...columns.values()].some((column) => typesOf(column).some(({ type }) => type === 'uuid'));

function writeTable(table: string, name: string, columns: TableSchema['columns']): string {
  const read = Array.from(columns, ([column, schema]) => [
    ...comment(schema),
    member(column, readType(schema.type)),
  ]);
  const write = Array.from(columns, ([column, { type }]) => member(`${column}?`, writeType(type)));
  return [
    `/** A row of the table ${table}. */`,
    `export interface ${name}Row {`,
    member('_uuid', 'string'),
    ...read.flat(),
    '}',
    '',
    `/** Values to write into the table ${table}. */`,
    `export interface ${name}Values {`,
    ...write,
    '}',
    '',
  ].join('\n');
}

const member = (name: string, type: string): string => `  readonly ${name}: ${type};`;

/** Constraints that the type does not show. */
function comment(column: ColumnSchema): readonly string[] {
  const notes = [
    ...(column.mutable ? [] : ['Set by an insert alone.']),
    ...typesOf(column).flatMap((base) => [...describeReference(base), ...describeRange(base)]),
    ...(Number.isFinite(column.type.max) && column.type.max > 1 ? [`At most ${column.type.max}.`] : []),
  ];
  return notes.length === 0 ? [] : [`  /** ${notes.join(' ')} */`];
}

const describeReference = ({ refTable, refType }: BaseType): readonly string[] =>
  refTable === undefined ? [] : [`Of ${refTable}${refType === 'weak' ? ', weak' : ''}.`];

function describeRange(base: BaseType): readonly string[] {
  const [least, most] = [base.minInteger ?? base.minReal, base.maxInteger ?? base.maxReal];
  const ofLength = [base.minLength, base.maxLength];
  return [
    ...(least === undefined && most === undefined ? [] : [`From ${least ?? '-∞'} to ${most ?? '∞'}.`]),
    ...(ofLength.some((limit) => limit !== undefined)
      ? [`${ofLength[0] ?? 0} to ${ofLength[1] ?? '∞'} characters.`]
      : []),
  ];
}

function readType(type: ColumnType): string {
  const key = atomType(type.key, 'string');
  switch (shapeOf(type)) {
    case 'one':
      return key;
    case 'optional':
      return `${key} | undefined`;
    case 'set':
      return `ReadonlySet<${key}>`;
    case 'map':
      return `ReadonlyMap<${key}, ${atomType(type.value!, 'string')}>`;
  }
}

function writeType(type: ColumnType): string {
  const key = atomType(type.key, 'Reference');
  switch (shapeOf(type)) {
    case 'one':
      return key;
    case 'optional':
      return `${key} | undefined`;
    case 'set':
      return `ReadonlySet<${key}> | readonly ${key.includes('|') ? `(${key})` : key}[]`;
    case 'map': {
      const map = `ReadonlyMap<${key}, ${atomType(type.value!, 'Reference')}>`;
      // The keys of an object are text.
      if (type.key.type !== 'string') return map;
      const names = type.key.enum === undefined ? '[key: string]' : `[key in ${key}]?`;
      return `${map} | { readonly ${names}: ${atomType(type.value!, 'Reference')} }`;
    }
  }
}

function atomType(base: BaseType, reference: string): string {
  if (base.enum !== undefined) return base.enum.map(writeLiteral).join(' | ');
  if (base.type === 'uuid') return reference;
  return base.type === 'integer' || base.type === 'real' ? 'number' : base.type;
}

const writeLiteral = (atom: string | number | boolean): string =>
  typeof atom === 'string'
    ? `'${JSON.stringify(atom).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
    : String(atom);
