/** Fields in type-length-value form: OXM (OpenFlow 1.4.0, 7.2.3.2) and NXM of Nicira, which differ in their classes. */
import { DecodeError } from '../errors.js';
import type { Masked } from '../field-value.js';
import { findFieldByHeader, type Field } from '../fields.js';
import type { Reader, Writer } from './bytes.js';

const HAS_MASK = 0x100;
const LENGTH = 0xff;

/** Writes a field; without a mask when all valid bits count. */
export function writeField(writer: Writer, field: Field, { value, mask }: Masked): void {
  if (mask === field.valid) {
    writer.u32(field.header).big(value, field.bytes);
    return;
  }
  writer.u32(field.header + HAS_MASK + field.bytes);
  writer.big(value, field.bytes).big(mask, field.bytes);
}

export interface FieldEntry extends Masked {
  readonly field: Field;
}

const EXPERIMENTER_CLASS = 0xffff;
/** The Open Networking Foundation, under whose number OpenFlow 1.4 has fields of OpenFlow 1.5. */
const ONF = 0x4f4e4600;
const OXM_CLASS = 0x8000;

interface Header {
  readonly field: Field;
  readonly hasMask: boolean;
  /** Bytes of the header itself. */
  readonly size: number;
}

/** The header under which the table has a field of the ONF: the experimenter counts in the length of the value. */
const standardHeader = (header: number): number => ((OXM_CLASS << 16) | ((header & 0xffff) - 4)) >>> 0;

/** The header of a field, which says how long the value is, or value and mask; undefined when it is unknown. */
function peekHeader(reader: Reader): Header | undefined {
  const first = reader.peek32(0);
  const isExperimenter = first >>> 16 === EXPERIMENTER_CLASS;
  if (isExperimenter && reader.peek32(4) !== ONF) return undefined;
  const header = isExperimenter ? standardHeader(first) : first;
  const hasMask = (header & HAS_MASK) !== 0;
  const length = header & LENGTH;
  const plain = hasMask ? ((header & ~(HAS_MASK | LENGTH)) | (length / 2)) >>> 0 : header;
  const field = findFieldByHeader(plain);
  return field === undefined ? undefined : { field, hasMask, size: isExperimenter ? 8 : 4 };
}

function readHeader(reader: Reader): Header {
  const header = peekHeader(reader);
  if (header === undefined)
    throw new DecodeError(`there is no field 0x${reader.peek32(0).toString(16)}`, 'OFPBMC_BAD_FIELD');
  reader.skip(header.size);
  return header;
}

/** A field that an action names without a value. */
export function readFieldHeader(reader: Reader): Field {
  const { field, hasMask } = readHeader(reader);
  if (hasMask) throw new DecodeError(`${field.name} is named with a mask`, 'OFPBAC_BAD_ARGUMENT');
  return field;
}

function checkMask({ field, value, mask }: FieldEntry): void {
  if (mask !== field.valid && !field.maskable)
    throw new DecodeError(`${field.name} takes no mask`, 'OFPBMC_BAD_MASK');
  if ((value & ~mask) !== 0n)
    throw new DecodeError(`${field.name}: bits of the value are outside its mask`, 'OFPBMC_BAD_WILDCARDS');
}

/** A field with its value. @throws DecodeError with the refusal of a switch */
export function readField(reader: Reader): FieldEntry {
  const { field, hasMask } = readHeader(reader);
  const value = reader.big(field.bytes);
  const mask = hasMask ? reader.big(field.bytes) : field.valid;
  const entry = { field, value, mask };
  if ((value & ~field.valid) !== 0n)
    throw new DecodeError(`${field.name} has no value ${value}`, 'OFPBMC_BAD_VALUE');
  checkMask(entry);
  return entry;
}

/** A field of a match; an unknown one as it is, in hexadecimal digits. @throws DecodeError with the refusal of a switch */
export function readMatchField(reader: Reader): FieldEntry | string {
  if (peekHeader(reader) !== undefined) return readField(reader);
  return reader.bytes(4 + (reader.peek16(2) & LENGTH)).toString('hex');
}

/** The bytes of an unknown field. @throws RangeError when they are not one field */
export function parseRawField(text: string): Buffer {
  const bytes = /^[0-9a-f]{8,}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.alloc(0);
  if (bytes.length !== text.length / 2 || bytes.length !== 4 + bytes[3]!)
    throw new RangeError(`not a field with its header: ${JSON.stringify(text.slice(0, 80))}`);
  return bytes;
}
