/** The match structure: OpenFlow 1.4.0, 7.2.3. */
import { DecodeError } from '../errors.js';
import { formatFieldValue, parseFieldValue, type FieldValue, type Masked } from '../field-value.js';
import { fieldOf, type FieldName } from '../fields.js';
import type { KnownFields, Match } from '../match.js';
import { isAllowed, type Lookup } from '../prerequisites.js';
import type { Reader, Writer } from './bytes.js';
import { parseRawField, readMatchField, writeField, type FieldEntry } from './oxm.js';

const OFPMT_OXM = 1;

/** The known fields of a match as numbers, in the order of the wire. Fields of which no bit counts are left out. */
export function listFields({ raw: _raw, ...known }: Match): FieldEntry[] {
  return (Object.entries(known) as [FieldName, FieldValue][])
    .map(([name, value]) => ({ field: fieldOf(name), ...parseFieldValue(name, value) }))
    .filter(({ mask }) => mask !== 0n)
    .sort((a, b) => a.field.order - b.field.order);
}

/** OXM_OF_PACKET_TYPE stands for `eth_type` as a prerequisite of other fields; ovs-fields(7), "packet_type". */
const isPacketType = (raw: string): boolean => raw.startsWith('80005804');

/** @throws RangeError when a value is none of its field */
export function writeMatch(writer: Writer, match: Match): void {
  const { raw = [] } = match;
  const start = writer.length;
  writer.u16(OFPMT_OXM).u16(0);
  for (const field of raw.filter(isPacketType)) writer.bytes(parseRawField(field));
  for (const entry of listFields(match)) writeField(writer, entry.field, entry);
  for (const field of raw.filter((field) => !isPacketType(field))) writer.bytes(parseRawField(field));
  writer.lengthSince(start).padFrom(start);
}

interface Found {
  readonly known: Map<FieldName, Masked>;
  readonly raw: string[];
}

/** Each field must stand only once, and follow those that it requires; an unknown one in front may be such a field. */
function checkPlace({ field }: FieldEntry, { known, raw }: Found, of: Lookup): void {
  if (known.has(field.name)) throw new DecodeError(`${field.name} stands twice`, 'OFPBMC_DUP_FIELD');
  if (raw.length === 0 && !isAllowed(field.requires, of))
    throw new DecodeError(`${field.name} needs ${field.requires} to be matched`, 'OFPBMC_BAD_PREREQ');
}

function addField(entry: FieldEntry, found: Found, of: Lookup): void {
  checkPlace(entry, found, of);
  found.known.set(entry.field.name, { value: entry.value, mask: entry.mask });
}

function readFields(reader: Reader): Found {
  const found: Found = { known: new Map(), raw: [] };
  const of: Lookup = (name) => found.known.get(name);
  while (reader.remaining > 0) {
    const entry = readMatchField(reader);
    if (typeof entry === 'string') found.raw.push(entry);
    else addField(entry, found, of);
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
  const known = listFields(match).map(
    ({ field, value, mask }) => [field.name, { value: value & mask, mask }] as const,
  );
  const raw = (match.raw ?? []).map((field) => parseRawField(field).toString('hex'));
  return matchOf({ known: new Map(known), raw });
}

/** The fields in the order of the table, so that equal matches are equal objects, whatever sent them. */
function matchOf({ known, raw }: Found): Match {
  const entries = [...known]
    .flatMap(([name, masked]) => splitRegister(name, masked))
    .filter(([, { mask }]) => mask !== 0n)
    .sort(([a], [b]) => fieldOf(a).order - fieldOf(b).order);
  const fields: KnownFields = Object.fromEntries(
    entries.map(([name, masked]) => [name, formatFieldValue(name, masked)]),
  );
  return raw.length === 0 ? fields : { ...fields, raw };
}
