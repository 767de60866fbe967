/** Values of columns (RFC 7047, section 5.1) as JavaScript has them. */

/** A `uuid` is its text. An `integer` beyond 2^53 is rounded when it is read, and refused when it is written. */
export type Atom = string | number | boolean;

/** A row that the same transaction inserts with this `uuidName`. Wherever a `uuid` is written, this may stand. */
export interface NamedUuid {
  readonly namedUuid: string;
}

/**
 * A value that was read. The type of the column decides about its shape: exactly one is the atom itself, none or one is the atom or
 * `undefined`, more are a set, and pairs are a map.
 */
export type Value = Atom | undefined | ReadonlySet<Atom> | ReadonlyMap<Atom, Atom>;

type AtomInput = Atom | NamedUuid;

/** A value to write. Sets may be arrays, and maps with text as keys may be plain objects. */
export type ValueInput =
  | AtomInput
  | undefined
  | ReadonlySet<AtomInput>
  | readonly AtomInput[]
  | ReadonlyMap<AtomInput, AtomInput>
  | { readonly [key: string]: AtomInput };

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if two values that were read are the same. */
export function areSameValues(one: Value, other: Value): boolean {
  if (one instanceof Set && other instanceof Set)
    return one.size === other.size && [...one].every((atom) => other.has(atom));
  if (one instanceof Map && other instanceof Map)
    return (
      one.size === other.size && [...one].every(([key, value]) => other.has(key) && other.get(key) === value)
    );
  return one === other;
}
