/** Values of columns in a form that can be compared and shown: JSON, with names in the place of uuids. */
import type { Value, ValueInput } from '@podwire/ovsdb';
import type { ColumnValue } from './description.js';

type Comparable = unknown;

const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

/** Sets and maps in order; the empty optional is `null`. */
function comparable(value: Value | ValueInput): Comparable {
  if (value === undefined) return null;
  if (typeof value !== 'object') return value;
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].sort(byText);
  const pairs = value instanceof Map ? [...(value as Map<unknown, unknown>)] : Object.entries(value);
  return pairs.sort(byText);
}

export function wantedValue(wanted: ColumnValue): Comparable {
  if ('value' in wanted) return comparable(wanted.value);
  if ('to' in wanted) return wanted.to ?? null;
  if ('toEach' in wanted) return comparable(wanted.toEach);
  return comparable(wanted.toEachBy);
}

/** The value of a row, where the wanted one says what its uuids are. @param nameBehind the name of a row, or its uuid */
export function foundValue(
  wanted: ColumnValue,
  value: Value,
  nameBehind: (table: string, uuid: string) => string,
): Comparable {
  if ('value' in wanted) return comparable(value);
  const nameOf = (uuid: unknown): string => nameBehind(wanted.table, uuid as string);
  if (value instanceof Map)
    return comparable(new Map([...value].map(([key, uuid]) => [String(key), nameOf(uuid)])));
  if (value instanceof Set) return comparable(Array.from(value, nameOf));
  return value === undefined ? null : nameOf(value);
}

/** The rows that a value leads to, as `[table, name]`. */
export function referencesOf(wanted: ColumnValue): readonly (readonly [string, string])[] {
  if ('value' in wanted) return [];
  const names =
    'to' in wanted
      ? wanted.to === undefined
        ? []
        : [wanted.to]
      : 'toEach' in wanted
        ? wanted.toEach
        : Object.values(wanted.toEachBy);
  return names.map((name) => [wanted.table, name] as const);
}

/** The value to write. @param uuidOf the uuid of a row */
export function writtenValue(
  wanted: ColumnValue,
  uuidOf: (table: string, name: string) => string,
): ValueInput {
  if ('value' in wanted) return wanted.value;
  const resolve = (name: string): string => uuidOf(wanted.table, name);
  if ('to' in wanted) return wanted.to === undefined ? undefined : resolve(wanted.to);
  if ('toEach' in wanted) return wanted.toEach.map(resolve);
  return new Map(Object.entries(wanted.toEachBy).map(([number, name]) => [Number(number), resolve(name)]));
}
