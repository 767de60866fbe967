import { type ColumnType, shapeOf } from '../schema.js';
import type { Atom, Value } from '../values.js';

/**
 * The new value of a column. The difference is the new value itself where there is at most one; of a set the elements that only one
 * of both has; of a map the pairs whose keys only one of both has, and the new ones of other values (ovsdb-server(7), 4.1.14).
 */
export function applyDifference(old: Value, difference: Value, type: ColumnType): Value {
  const shape = shapeOf(type);
  if (shape === 'set') return toggle(old as ReadonlySet<Atom>, difference as ReadonlySet<Atom>);
  if (shape === 'map') return merge(old as ReadonlyMap<Atom, Atom>, difference as ReadonlyMap<Atom, Atom>);
  return difference;
}

function toggle(old: ReadonlySet<Atom>, difference: ReadonlySet<Atom>): ReadonlySet<Atom> {
  const value = new Set(old);
  for (const atom of difference) if (!value.delete(atom)) value.add(atom);
  return value;
}

function merge(old: ReadonlyMap<Atom, Atom>, difference: ReadonlyMap<Atom, Atom>): ReadonlyMap<Atom, Atom> {
  const value = new Map(old);
  for (const [key, atom] of difference)
    if (value.get(key) === atom) value.delete(key);
    else value.set(key, atom);
  return value;
}

/** The value of a column that nothing was written to (RFC 7047, section 5.2.1). */
export function defaultValue(type: ColumnType): Value {
  const shape = shapeOf(type);
  if (shape === 'map') return new Map();
  if (shape === 'set') return new Set(type.min === 0 ? [] : [defaultAtoms[type.key.type]]);
  return shape === 'optional' ? undefined : defaultAtoms[type.key.type];
}

export const zeroUuid = '00000000-0000-0000-0000-000000000000';

const defaultAtoms = { integer: 0, real: 0, boolean: false, string: '', uuid: zeroUuid } as const;
