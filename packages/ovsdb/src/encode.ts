/** From values to the JSON of RFC 7047, section 5.1. */
import { isUuid } from './decode.js';
import { type AtomicType, type ColumnType, shapeOf } from './schema.js';
import { isRecord, type Json, type ValueInput } from './values.js';

/** Names of rows within a transaction; ovsdb-server takes no others. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `place` is named in errors. @throws TypeError, RangeError */
export function encodeAtom(atom: unknown, type: AtomicType, place: string): Json {
  if (typeof atom === 'number' && (type === 'integer' || type === 'real')) {
    const fits = type === 'integer' ? Number.isSafeInteger(atom) : Number.isFinite(atom);
    if (fits) return atom;
    throw new RangeError(`${place}: ${atom} cannot be sent as ${type}`);
  }
  if (type === 'boolean' && typeof atom === 'boolean') return atom;
  if (type === 'string' && typeof atom === 'string') return requireText(atom, place);
  if (type === 'uuid' && isUuid(atom)) return ['uuid', atom];
  if (type === 'uuid' && isRecord(atom) && typeof atom['namedUuid'] === 'string')
    return ['named-uuid', requireName(atom['namedUuid'], place)];
  throw new TypeError(`${place}: ${describe(atom)} is not of type ${type}`);
}

/** ovsdb-server ends the connection when a text has a null byte or half a surrogate pair. */
function requireText(text: string, place: string): string {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text))
    throw new TypeError(`${place}: a text has a null byte or half a surrogate pair`);
  return text;
}

export function requireName(name: string, place: string): string {
  if (!namePattern.test(name)) throw new TypeError(`${place}: ${describe(name)} cannot name a row`);
  return name;
}

/** @throws TypeError, RangeError */
export function encodeValue(value: ValueInput, type: ColumnType, place: string): Json {
  const shape = shapeOf(type);
  if (shape === 'map') return encodeMap(value, type, place);
  if (value === undefined && shape === 'optional') return ['set', []];
  if (Array.isArray(value) || value instanceof Set) {
    if (shape === 'one') throw new TypeError(`${place}: the column has one value, not a set`);
    return encodeSet(value as Iterable<unknown>, type.key.type, place);
  }
  if (shape === 'set') throw new TypeError(`${place}: ${describe(value)} is not a set`);
  return encodeAtom(value, type.key.type, place);
}

/** @throws TypeError, RangeError */
export function encodeSet(atoms: Iterable<unknown>, type: AtomicType, place: string): Json {
  return ['set', Array.from(atoms, (atom) => encodeAtom(atom, type, place))];
}

function encodeMap(map: ValueInput, { key, value }: ColumnType, place: string): Json {
  const isMap = map instanceof Map || (isRecord(map) && !(map instanceof Set));
  if (!isMap || value === undefined) throw new TypeError(`${place}: ${describe(map)} is not a map`);
  const pairs = map instanceof Map ? map : Object.entries(map);
  return [
    'map',
    Array.from(pairs, ([name, item]: readonly [unknown, unknown]) => [
      encodeAtom(name, key.type, place),
      encodeAtom(item, value.type, place),
    ]),
  ];
}

const describe = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);
