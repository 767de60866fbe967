/** The match structure: OpenFlow 1.4.0, 7.2.3. */
import { DecodeError } from '../errors.js';
import { formatFieldValue, parseFieldValue, type FieldValue, type Masked } from '../field-value.js';
import { fieldOf, type FieldName } from '../fields.js';
import type { Match } from '../match.js';
import { isAllowed, type Lookup } from '../prerequisites.js';
import type { Reader, Writer } from './bytes.js';
import { readField, writeField, type FieldEntry } from './oxm.js';

const OFPMT_OXM = 1;

/** The fields of a match as numbers, in the order of the wire. Fields of which no bit counts are left out. */
export function listFields(match: Match): FieldEntry[] {
  return (Object.entries(match) as [FieldName, FieldValue][])
    .map(([name, value]) => ({ field: fieldOf(name), ...parseFieldValue(name, value) }))
    .filter(({ mask }) => mask !== 0n)
    .sort((a, b) => a.field.order - b.field.order);
}

/** @throws RangeError when a value is none of its field */
export function writeMatch(writer: Writer, match: Match): void {
  const start = writer.length;
  writer.u16(OFPMT_OXM).u16(0);
  for (const entry of listFields(match)) writeField(writer, entry.field, entry);
  writer.lengthSince(start).padFrom(start);
}

/** Each field must follow those that it requires, and stand only once. */
function checkPlace({ field }: FieldEntry, found: ReadonlyMap<FieldName, Masked>, of: Lookup): void {
  if (found.has(field.name)) throw new DecodeError(`${field.name} stands twice`, 'OFPBMC_DUP_FIELD');
  if (!isAllowed(field.requires, of))
    throw new DecodeError(`${field.name} needs ${field.requires} to be matched`, 'OFPBMC_BAD_PREREQ');
}

function readFields(reader: Reader): Map<FieldName, Masked> {
  const found = new Map<FieldName, Masked>();
  const of: Lookup = (name) => found.get(name);
  while (reader.remaining > 0) {
    const entry = readField(reader);
    checkPlace(entry, found, of);
    found.set(entry.field.name, { value: entry.value, mask: entry.mask });
  }
  return found;
}

/** @throws DecodeError with the refusal of a switch */
export function readMatch(reader: Reader): Match {
  const [type, length] = [reader.u16(), reader.u16()];
  if (type !== OFPMT_OXM) throw new DecodeError(`a match of type ${type}`, 'OFPBMC_BAD_TYPE');
  if (length < 4) throw new DecodeError(`a match of ${length} bytes`, 'OFPBMC_BAD_LEN');
  const found = readFields(reader.part(length - 4));
  reader.skip((8 - (length % 8)) % 8);
  return matchOf(found);
}

/** Bits of a wide register as those of the registers that it consists of; the first has the high bits. */
function splitRegister(name: FieldName, masked: Masked): [FieldName, Masked][] {
  const [, kind, index] = /^(xx?reg)(\d)$/.exec(name) ?? [];
  if (kind === undefined) return [[name, masked]];
  const count = kind === 'xreg' ? 2 : 4;
  return [...Array(count).keys()].map((part) => {
    const shift = BigInt(32 * (count - 1 - part));
    const name = `reg${count * Number(index) + part}` as FieldName;
    return [
      name,
      { value: (masked.value >> shift) & 0xffff_ffffn, mask: (masked.mask >> shift) & 0xffff_ffffn },
    ];
  });
}

/** A match as a switch returns it: no bits outside of masks, wide registers as registers. @throws RangeError */
export function canonicalMatch(match: Match): Match {
  const found = listFields(match).map(
    ({ field, value, mask }) => [field.name, { value: value & mask, mask }] as const,
  );
  return matchOf(new Map(found));
}

/** The fields in the order of the table, so that equal matches are equal objects, whatever sent them. */
function matchOf(found: ReadonlyMap<FieldName, Masked>): Match {
  const entries = [...found]
    .flatMap(([name, masked]) => splitRegister(name, masked))
    .filter(([, { mask }]) => mask !== 0n)
    .sort(([a], [b]) => fieldOf(a).order - fieldOf(b).order);
  return Object.fromEntries(entries.map(([name, masked]) => [name, formatFieldValue(name, masked)]));
}
