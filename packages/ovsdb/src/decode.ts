/** From the JSON of RFC 7047, section 5.1, to values. */
import { ProtocolError, unexpected } from './errors.js';
import {
  type AtomicType,
  type ColumnType,
  findColumn,
  type Shape,
  shapeOf,
  type TableSchema,
} from './schema.js';
import { type Atom, isRecord, type Value } from './values.js';

/** Values of a row by column. */
export type Row = { readonly [column: string]: Value };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && uuidPattern.test(text);

/** `place` is named in errors. @throws ProtocolError */
export function decodeAtom(json: unknown, type: AtomicType, place: string): Atom {
  switch (type) {
    case 'integer':
      if (Number.isInteger(json)) return json as number;
      break;
    case 'real':
      if (typeof json === 'number') return json;
      break;
    case 'uuid':
      if (Array.isArray(json) && json.length === 2 && json[0] === 'uuid' && isUuid(json[1])) return json[1];
      break;
    case 'boolean':
    case 'string':
      if (typeof json === type) return json as Atom;
  }
  throw unexpected(place, type, json);
}

/** @throws ProtocolError */
export function decodeValue(json: unknown, type: ColumnType, place: string): Value {
  const shape = shapeOf(type);
  if (shape === 'map') return decodeMap(json, type, place);
  const atoms = elementsOf(json, 'set')?.map((atom) => decodeAtom(atom, type.key.type, place));
  if (atoms === undefined) return wrap(decodeAtom(json, type.key.type, place), shape);
  if (shape === 'set') return new Set(atoms);
  if (atoms.length > 1 || (shape === 'one' && atoms.length === 0)) throw unexpected(place, 'one value', json);
  return atoms[0];
}

const wrap = (atom: Atom, shape: Shape): Value => (shape === 'set' ? new Set([atom]) : atom);

function decodeMap(json: unknown, { key, value }: ColumnType, place: string): ReadonlyMap<Atom, Atom> {
  const pairs = elementsOf(json, 'map');
  if (pairs === undefined || value === undefined) throw unexpected(place, 'a map', json);
  const map = new Map<Atom, Atom>();
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2)
      throw unexpected(place, 'pairs of a key and a value', pair);
    map.set(decodeAtom(pair[0], key.type, place), decodeAtom(pair[1], value.type, place));
  }
  return map;
}

function elementsOf(json: unknown, tag: 'set' | 'map'): readonly unknown[] | undefined {
  const isTagged = Array.isArray(json) && json.length === 2 && json[0] === tag && Array.isArray(json[1]);
  return isTagged ? (json[1] as readonly unknown[]) : undefined;
}

/** Decodes the columns that are there. @throws ProtocolError for a column that the schema does not have */
export function decodeRow(json: unknown, table: TableSchema, place: string): Row {
  if (!isRecord(json)) throw unexpected(place, 'a row', json);
  const row: Record<string, Value> = {};
  for (const [name, value] of Object.entries(json)) {
    const column = findColumn(table, name);
    if (column === undefined) throw new ProtocolError(`${place} has no column ${name}`);
    row[name] = decodeValue(value, column.type, `${place}, column ${name}`);
  }
  return row;
}
