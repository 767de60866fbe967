/** Instructions of a flow: OpenFlow 1.4.0, 7.2.4. */
import type { Action } from '../actions.js';
import { DecodeError } from '../errors.js';
import { formatFieldValue, parseFieldValue } from '../field-value.js';
import type { Instructions } from '../flow.js';
import { readActions, writeActions } from './actions.js';
import type { Reader, Writer } from './bytes.js';
import { EXPERIMENTER } from './constants.js';

const type = { goto: 1, metadata: 2, write: 3, apply: 4, clear: 5, meter: 6 } as const;

function writeList(writer: Writer, kind: number, actions: readonly Action[] | undefined): void {
  if (actions === undefined || (actions.length === 0 && kind === type.apply)) return;
  const start = writer.length;
  writer.u16(kind).u16(0).zeros(4);
  writeActions(writer, actions);
  writer.lengthSince(start);
}

export function writeInstructions(writer: Writer, instructions: Instructions): void {
  const { meter, actions, clear, write, metadata, goto } = instructions;
  if (meter !== undefined) writer.u16(type.meter).u16(8).u32(meter);
  writeList(writer, type.apply, actions);
  if (clear) writer.u16(type.clear).u16(8).zeros(4);
  writeList(writer, type.write, write);
  if (metadata !== undefined) {
    const { value, mask } = parseFieldValue('metadata', metadata);
    writer.u16(type.metadata).u16(24).zeros(4).u64(value).u64(mask);
  }
  if (goto !== undefined) writer.u16(type.goto).u16(8).u8(goto).zeros(3);
}

type Mutable = { -readonly [Key in keyof Instructions]: Instructions[Key] };

function readInstruction(kind: number, body: Reader): Mutable {
  switch (kind) {
    case type.goto:
      return { goto: body.u8() };
    case type.metadata:
      return readMetadata(body.skip(4));
    case type.write:
      return { write: readActions(body.skip(4)) };
    case type.apply:
      return { actions: readActions(body.skip(4)) };
    case type.clear:
      return { clear: true };
    case type.meter:
      return { meter: body.u32() };
    case EXPERIMENTER:
      throw new DecodeError('an instruction of an experimenter', 'OFPBIC_BAD_EXPERIMENTER');
    default:
      throw new DecodeError(`an instruction ${kind}`, 'OFPBIC_UNKNOWN_INST');
  }
}

const readMetadata = (body: Reader): Mutable => {
  const masked = { value: body.u64(), mask: body.u64() };
  return { metadata: String(formatFieldValue('metadata', masked)) };
};

/** @throws DecodeError with the refusal of a switch */
export function readInstructions(reader: Reader): Instructions {
  const seen = new Set<number>();
  const found: Mutable = {};
  while (reader.remaining > 0) {
    const [kind, length] = [reader.u16(), reader.u16()];
    if (length < 8 || length % 8 !== 0 || length - 4 > reader.remaining)
      throw new DecodeError(`an instruction of ${length} bytes`, 'OFPBIC_BAD_LEN');
    if (seen.has(kind)) throw new DecodeError(`two instructions ${kind}`, 'OFPBIC_DUP_INST');
    seen.add(kind);
    Object.assign(found, readInstruction(kind, reader.part(length - 4)));
  }
  return found;
}
