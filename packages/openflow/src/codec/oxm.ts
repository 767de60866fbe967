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
}

/** A field of an experimenter: its number follows the header and counts in its length. */
function readExperimenterHeader(header: number, reader: Reader): number {
  const experimenter = reader.u32();
  if (experimenter !== ONF)
    throw new DecodeError(`a field of experimenter 0x${experimenter.toString(16)}`, 'OFPBMC_BAD_FIELD');
  return ((OXM_CLASS << 16) | ((header & 0xffff) - 4)) >>> 0;
}

/** The header of a field, which says how long the value is, or value and mask. */
function readHeader(reader: Reader): Header {
  const first = reader.u32();
  const header = first >>> 16 === EXPERIMENTER_CLASS ? readExperimenterHeader(first, reader) : first;
  const hasMask = (header & HAS_MASK) !== 0;
  const length = header & LENGTH;
  const plain = hasMask ? ((header & ~(HAS_MASK | LENGTH)) | (length / 2)) >>> 0 : header;
  const field = findFieldByHeader(plain);
  if (field === undefined)
    throw new DecodeError(`there is no field 0x${header.toString(16)}`, 'OFPBMC_BAD_FIELD');
  return { field, hasMask };
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
