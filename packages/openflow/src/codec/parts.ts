/** Parts of fields on the wire, and how actions in actions are read and written. */
import type { Action } from '../actions.js';
import { DecodeError } from '../errors.js';
import { fieldOf, type Field } from '../fields.js';
import { spanOf, subfieldOf, type Subfield } from '../subfield.js';
import type { Reader, Writer } from './bytes.js';

export type WriteActions = (writer: Writer, actions: readonly Action[]) => void;
export type ReadActions = (part: Reader) => Action[];

/** Start and length of a part in 16 bits: ten for the first bit, six for the length less one. */
export function packSpan(part: Subfield): number {
  const { start, bits } = spanOf(part);
  if (bits > 64) throw new RangeError(`${part.field}: a part of more than 64 bits`);
  return (start << 6) | (bits - 1);
}

export const headerOf = (part: Subfield): number => fieldOf(part.field).header;

/** A part by its field and the 16 bits of {@link packSpan}. @throws DecodeError with the refusal of a switch */
export function readPart(field: Field, start: number, bits: number): Subfield {
  try {
    const part = subfieldOf(field.name, start, bits);
    spanOf(part);
    return part;
  } catch (error) {
    throw new DecodeError(String(error), 'OFPBAC_BAD_SET_LEN');
  }
}

export const unpackSpan = (packed: number): readonly [start: number, bits: number] => [
  packed >> 6,
  (packed & 63) + 1,
];
