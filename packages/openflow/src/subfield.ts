/** Parts of fields, as actions read and write them: `NXM_NX_REG0[0..15]` of ovs-actions(7). */
import { fieldOf, widthOf, type FieldName } from './fields.js';

export interface Subfield {
  readonly field: FieldName;
  /** The lowest bit; 0 when absent. */
  readonly start?: number;
  /** The number of bits; all from `start` on when absent. */
  readonly bits?: number;
}

/** Start and length in full. @throws RangeError when it is no part of the field. */
export function spanOf({ field, start = 0, bits }: Subfield): {
  readonly start: number;
  readonly bits: number;
} {
  const width = widthOf(fieldOf(field));
  const length = bits ?? width - start;
  if (start < 0 || length < 1 || start + length > width)
    throw new RangeError(`${field}[${start}..${start + length - 1}] is no part of its ${width} bits`);
  return { start, bits: length };
}

/** The canonical form: a whole field has neither start nor length. */
export function subfieldOf(field: FieldName, start: number, bits: number): Subfield {
  const isWhole = start === 0 && bits === widthOf(fieldOf(field));
  return isWhole ? { field } : { field, start, bits };
}
