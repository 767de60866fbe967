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

/** A field by its 32-bit header, which names the length of the value, or of value and mask. */
function findByHeader(header: number): { readonly field: Field; readonly hasMask: boolean } {
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
  const { field, hasMask } = findByHeader(reader.u32());
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
  const { field, hasMask } = findByHeader(reader.u32());
  const value = reader.big(field.bytes);
  const mask = hasMask ? reader.big(field.bytes) : field.valid;
  const entry = { field, value, mask };
  checkMask(entry);
  if ((value & ~field.valid) !== 0n)
    throw new DecodeError(`${field.name} has no value ${value}`, 'OFPBMC_BAD_VALUE');
  return entry;
}
