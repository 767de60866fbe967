/** Mutations of a column (RFC 7047, section 5.1). */
import type { Row } from '../decode.js';
import { type ColumnType, shapeOf, type TableSchema } from '../schema.js';
import type { Atom, Value } from '../values.js';
import { checkConstraints, keysOf, readDatum, type ResolveName, sizeOf } from './datum.js';
import { constraintViolation, Failure, syntaxError } from './failure.js';

export interface ReadMutation {
  readonly column: string;
  /** @throws Failure */
  readonly change: (value: Row[string]) => Row[string];
}

/** @throws Failure */
export function readMutation(json: unknown, table: TableSchema, resolve: ResolveName): ReadMutation {
  if (!Array.isArray(json) || json.length !== 3) throw syntaxError('a mutation has three members');
  const [name, mutator, argument] = json as readonly unknown[];
  const column = String(name);
  const schema = table.columns.get(column);
  if (schema === undefined) throw new Failure('unknown column', `there is no column ${column}`);
  if (!schema.mutable) throw constraintViolation(`the column ${column} is immutable`);
  const mutate = mutationOf(String(mutator), argument, schema.type, resolve);
  return { column, change: (value) => checked(mutate(value), schema.type) };
}

function checked(value: Value, type: ColumnType): Value {
  const size = sizeOf(value);
  if (size < type.min || size > type.max) throw constraintViolation(`the column would have ${size} members`);
  checkConstraints(value, type);
  return value;
}

type Mutate = (value: Value) => Value;

function mutationOf(mutator: string, argument: unknown, type: ColumnType, resolve: ResolveName): Mutate {
  const calculate = arithmetic.get(mutator);
  if (calculate !== undefined) return arithmeticOf(mutator, calculate, argument, type, resolve);
  if (shapeOf(type) === 'one' || (mutator !== 'insert' && mutator !== 'delete'))
    throw syntaxError(`${mutator} does not apply to the column`);
  const part: ColumnType = { ...type, min: 0, max: Infinity };
  if (mutator === 'insert') return insertionOf(readDatum(argument, part, resolve), type);
  if (type.value !== undefined && Array.isArray(argument) && argument[0] !== 'map') {
    const keys = readDatum(
      argument,
      { key: withoutConstraints(type.key.type), min: 0, max: Infinity },
      resolve,
    );
    return (value) => without(value as ReadonlyMap<Atom, Atom>, keysOf(keys));
  }
  return deletionOf(readDatum(argument, part, resolve), type);
}

const withoutConstraints = (type: ColumnType['key']['type']): ColumnType['key'] => ({ type });

type Calculate = (one: number, other: number) => number;

const arithmetic = new Map<string, Calculate>([
  ['+=', (one, other) => one + other],
  ['-=', (one, other) => one - other],
  ['*=', (one, other) => one * other],
  ['/=', (one, other) => one / other],
  ['%=', (one, other) => one % other],
]);

function arithmeticOf(
  mutator: string,
  calculate: Calculate,
  argument: unknown,
  type: ColumnType,
  resolve: ResolveName,
): Mutate {
  const isInteger = type.key.type === 'integer';
  if (type.value !== undefined || !(isInteger || (type.key.type === 'real' && mutator !== '%=')))
    throw syntaxError(`${mutator} does not apply to the column`);
  const by = readDatum(
    argument,
    { key: withoutConstraints(type.key.type), min: 1, max: 1 },
    resolve,
  ) as number;
  const apply = (atom: Atom): number => {
    if (by === 0 && (mutator === '/=' || mutator === '%='))
      throw new Failure('domain error', 'division by zero');
    const result = calculate(atom as number, by);
    return isInteger ? requireInteger(result) : requireReal(result);
  };
  return (value) => {
    if (!(value instanceof Set)) return value === undefined ? undefined : apply(value as Atom);
    const results = new Set(keysOf(value).map(apply));
    if (results.size < value.size) throw constraintViolation('the result has duplicates');
    return results;
  };
}

function requireInteger(result: number): number {
  const integer = Math.trunc(result) + 0;
  if (Math.abs(integer) < 2 ** 63) return integer;
  throw new Failure('range error', 'the result does not fit 64 bits');
}

function requireReal(result: number): number {
  if (Number.isFinite(result)) return result + 0;
  throw new Failure('range error', 'the result is not finite');
}

/** An optional becomes a set for a moment: it may have one member too many, which is an error then. */
function insertionOf(part: Value, type: ColumnType): Mutate {
  if (part instanceof Map)
    return (value) => new Map([...(part as ReadonlyMap<Atom, Atom>), ...(value as ReadonlyMap<Atom, Atom>)]);
  return (value) => narrowed(new Set([...keysOf(value), ...keysOf(part)]), type);
}

function deletionOf(part: Value, type: ColumnType): Mutate {
  if (part instanceof Map)
    return (value) => {
      const pairs = [...(value as ReadonlyMap<Atom, Atom>)];
      return new Map(pairs.filter(([key, item]) => !part.has(key) || part.get(key) !== item));
    };
  const gone = new Set(keysOf(part));
  return (value) => narrowed(new Set(keysOf(value).filter((atom) => !gone.has(atom))), type);
}

function narrowed(atoms: ReadonlySet<Atom>, type: ColumnType): Value {
  if (shapeOf(type) === 'set') return atoms;
  if (atoms.size > 1) throw constraintViolation(`the column would have ${atoms.size} members`);
  return [...atoms][0];
}

function without(value: ReadonlyMap<Atom, Atom>, keys: readonly Atom[]): Value {
  const map = new Map(value);
  for (const key of keys) map.delete(key);
  return map;
}
