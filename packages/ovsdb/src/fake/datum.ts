/** Values as they come from a client, with the constraints of their column. */
import { decodeValue } from '../decode.js';
import { ProtocolError } from '../errors.js';
import { type BaseType, type ColumnType, shapeOf } from '../schema.js';
import type { Atom, Json, Value } from '../values.js';
import { constraintViolation, Failure, syntaxError } from './failure.js';

/** The uuid of a name that a transaction gives to a row. */
export type ResolveName = (name: string) => string;

/** @throws Failure */
export function readDatum(json: unknown, type: ColumnType, resolve: ResolveName): Value {
  const resolved = resolveNames(json, type, resolve);
  let value: Value;
  try {
    value = decodeValue(resolved, type, 'value');
  } catch (error) {
    if (error instanceof ProtocolError) throw syntaxError(error.message);
    throw error;
  }
  requireDistinct(resolved, value);
  const size = sizeOf(value);
  if (size < type.min || size > type.max) throw syntaxError(`${size} members are too few or too many`);
  checkConstraints(value, type);
  return value;
}

/** Replaces `["named-uuid", NAME]` by the row's uuid where a uuid may be. */
function resolveNames(json: unknown, { key, value }: ColumnType, resolve: ResolveName): unknown {
  const isNameable = key.type === 'uuid' || value?.type === 'uuid';
  return isNameable ? replaceNames(json, resolve) : json;
}

function replaceNames(json: unknown, resolve: ResolveName): unknown {
  if (!Array.isArray(json)) return json;
  const [tag, name] = json as readonly unknown[];
  if (json.length === 2 && tag === 'named-uuid' && typeof name === 'string') return ['uuid', resolve(name)];
  return json.map((each) => replaceNames(each, resolve));
}

function requireDistinct(json: unknown, value: Value): void {
  if (!(value instanceof Set || value instanceof Map) || !Array.isArray(json) || !Array.isArray(json[1]))
    return;
  if (json[1].length > value.size && json[0] !== 'uuid') throw new Failure('ovsdb error', 'a duplicate');
}

export function sizeOf(value: Value): number {
  if (value instanceof Set || value instanceof Map) return value.size;
  return value === undefined ? 0 : 1;
}

/** @throws Failure */
export function checkConstraints(value: Value, type: ColumnType): void {
  for (const atom of keysOf(value)) checkAtom(atom, type.key);
  if (value instanceof Map && type.value !== undefined)
    for (const atom of (value as ReadonlyMap<Atom, Atom>).values()) checkAtom(atom, type.value);
}

/** The atoms of a value; of a map its keys. */
export function keysOf(value: Value): readonly Atom[] {
  if (value instanceof Set || value instanceof Map) return [...(value as ReadonlySet<Atom>).keys()];
  return value === undefined ? [] : [value as Atom];
}

function checkAtom(atom: Atom, base: BaseType): void {
  if (base.enum !== undefined && !base.enum.includes(atom))
    throw constraintViolation(`${atom} is not one of ${base.enum.join(', ')}`);
  const [least, most] =
    base.type === 'integer'
      ? [base.minInteger, base.maxInteger]
      : base.type === 'real'
        ? [base.minReal, base.maxReal]
        : [base.minLength, base.maxLength];
  const measure = typeof atom === 'string' ? [...atom].length : Number(atom);
  if (base.type === 'boolean' || base.type === 'uuid') return;
  if (measure < (least ?? -Infinity) || measure > (most ?? Infinity))
    throw constraintViolation(`${atom} is not in the range of its column`);
}

/** The JSON that a server sends for a value. */
export function writeDatum(value: Value, type: ColumnType): Json {
  const shape = shapeOf(type);
  if (value instanceof Map && type.value !== undefined) {
    const item = type.value;
    const pairs = value as ReadonlyMap<Atom, Atom>;
    return ['map', Array.from(pairs, ([key, atom]) => [writeAtom(key, type.key), writeAtom(atom, item)])];
  }
  const atoms = keysOf(value).map((atom) => writeAtom(atom, type.key));
  return shape !== 'map' && atoms.length === 1 ? atoms[0]! : ['set', atoms];
}

const writeAtom = (atom: Atom, { type }: BaseType): Json => (type === 'uuid' ? ['uuid', atom] : atom);
