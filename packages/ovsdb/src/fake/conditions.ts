/** Conditions of an operation or a monitor (RFC 7047, section 5.1). */
import type { Row } from '../decode.js';
import { type ColumnType, findColumn, shapeOf, type TableSchema } from '../schema.js';
import { areSameValues, type Atom, type Value } from '../values.js';
import { keysOf, readDatum, type ResolveName } from './datum.js';
import { Failure, syntaxError } from './failure.js';

export type Predicate = (row: Row) => boolean;

export interface ReadCondition {
  readonly holds: Predicate;
  /** The uuid that alone fits, if there is one: then no other row needs to be looked at. */
  readonly uuid: string | undefined;
}

/** @throws Failure */
export function readCondition(json: unknown, table: TableSchema, resolve: ResolveName): ReadCondition {
  if (typeof json === 'boolean') return { holds: () => json, uuid: undefined };
  if (!Array.isArray(json) || json.length !== 3) throw syntaxError('a condition has three members');
  const [name, test, argument] = json as readonly unknown[];
  const type = findColumn(table, String(name))?.type;
  if (type === undefined) throw new Failure('unknown column', `there is no column ${String(name)}`);
  const compare = comparisonOf(test, type);
  const value = readDatum(argument, argumentType(type, String(test)), resolve);
  const column = String(name);
  const uuid = column === '_uuid' && test === '==' ? (value as string) : undefined;
  return { holds: (row) => compare(row[column], value), uuid };
}

/** Sets and maps are compared with any part of one. */
function argumentType(type: ColumnType, test: string): ColumnType {
  const shape = shapeOf(type);
  if (/^[<>]/.test(test)) return { ...type, min: 1 };
  if (shape === 'one') return type;
  if (test === 'includes') return { ...type, min: 0 };
  return test === 'excludes' ? { ...type, min: 0, max: shape === 'optional' ? Infinity : type.max } : type;
}

type Compare = (value: Value, argument: Value) => boolean;

const numeric = new Map<string, (one: number, other: number) => boolean>([
  ['<', (one, other) => one < other],
  ['<=', (one, other) => one <= other],
  ['>', (one, other) => one > other],
  ['>=', (one, other) => one >= other],
]);

const general = new Map<string, Compare>([
  ['==', areSameValues],
  ['!=', (one, other) => !areSameValues(one, other)],
  ['includes', (value, argument) => membersOf(argument).every(isMemberOf(value))],
  ['excludes', (value, argument) => !membersOf(argument).some(isMemberOf(value))],
]);

function comparisonOf(test: unknown, type: ColumnType): Compare {
  const found = general.get(String(test));
  if (found !== undefined) return found;
  const compare = numeric.get(String(test));
  const isNumber = ['integer', 'real'].includes(type.key.type) && type.max === 1 && type.value === undefined;
  if (compare === undefined || !isNumber) throw syntaxError(`${String(test)} does not apply to the column`);
  return (value, argument) => value !== undefined && compare(value as number, argument as number);
}

type Member = readonly [Atom, Atom | undefined];

const membersOf = (value: Value): readonly Member[] =>
  value instanceof Map
    ? [...(value as ReadonlyMap<Atom, Atom>)]
    : keysOf(value).map((atom) => [atom, undefined]);

function isMemberOf(value: Value): (member: Member) => boolean {
  if (value instanceof Map) return ([key, item]) => value.has(key) && value.get(key) === item;
  const atoms = value instanceof Set ? (value as ReadonlySet<Atom>) : new Set(keysOf(value));
  return ([atom]) => atoms.has(atom);
}
