/** Actions of Nicira's extensions; ovs-actions(7). Connection tracking is in `conntrack-action.ts`. */
import type { Action, Controller, Load, Move, PacketInReason, Resubmit } from '../actions.js';
import { DecodeError } from '../errors.js';
import { portOfShort, shortPort } from '../ports.js';
import { spanOf, type Subfield } from '../subfield.js';
import type { Reader, Writer } from './bytes.js';
import { EXPERIMENTER, NICIRA } from './constants.js';
import { readConntrack, writeConntrack } from './conntrack-action.js';
import { readFieldHeader } from './oxm.js';
import { headerOf, packSpan, readPart, unpackSpan, type ReadActions, type WriteActions } from './parts.js';

type NiciraAction = Exclude<
  Action,
  {
    readonly type:
      'output' | 'group' | 'set_queue' | 'set_field' | 'push_vlan' | 'pop_vlan' | 'dec_ttl' | 'raw';
  }
>;

// prettier-ignore
const subtype = {
  resubmit: 1, move: 6, load: 7, note: 8, resubmitTable: 14, outputField: 15, controller: 20,
  push: 27, pop: 28, conjunction: 34, ct: 35, clone: 42, ctClear: 43, resubmitTableCt: 44,
} as const;

const SAME_PORT = 0xfff8;
const SAME_TABLE = 0xff;
const WHOLE_PACKET = 0xffff;
const reasons: readonly PacketInReason[] = ['no_match', 'action', 'invalid_ttl'];

/** Writes an action of Nicira: header, subtype, what `body` writes, and padding. */
function write(writer: Writer, type: number, body: (writer: Writer) => void): void {
  const start = writer.length;
  writer.u16(EXPERIMENTER).u16(0).u32(NICIRA).u16(type);
  body(writer);
  writer.padFrom(start).lengthSince(start);
}

function writeResubmit(writer: Writer, { port, table, ct }: Resubmit): void {
  const number = port === undefined ? SAME_PORT : shortPort(port);
  const [plain, type] = [table === undefined && ct === undefined, ct ? subtype.resubmitTableCt : 14];
  write(writer, plain ? subtype.resubmit : type, () =>
    writer.u16(number).u8(plain ? 0 : (table ?? SAME_TABLE)),
  );
}

function writeMove(writer: Writer, { from, to }: Move): void {
  const [source, target] = [spanOf(from), spanOf(to)];
  if (source.bits !== target.bits)
    throw new RangeError(
      `move of ${source.bits} bits of ${from.field} to ${target.bits} bits of ${to.field}`,
    );
  write(writer, subtype.move, () => {
    writer.u16(source.bits).u16(source.start).u16(target.start).u32(headerOf(from)).u32(headerOf(to));
  });
}

function writeLoad(writer: Writer, { value, to }: Load): void {
  const number = BigInt(value);
  if (number < 0n || number >> BigInt(spanOf(to).bits) !== 0n)
    throw new RangeError(`load: ${value} has more bits than its part of ${to.field}`);
  write(writer, subtype.load, () => writer.u16(packSpan(to)).u32(headerOf(to)).u64(number));
}

function writeController(writer: Writer, { maxLength, id, reason }: Controller): void {
  write(writer, subtype.controller, () => {
    const why = reasons.indexOf(reason ?? 'action');
    writer
      .u16(maxLength ?? WHOLE_PACKET)
      .u16(id ?? 0)
      .u8(why);
  });
}

function writeStack(writer: Writer, type: number, part: Subfield): void {
  const { start, bits } = spanOf(part);
  write(writer, type, () => writer.u16(start).u32(headerOf(part)).u16(bits));
}

export function writeNiciraAction(writer: Writer, action: NiciraAction, writeActions: WriteActions): void {
  switch (action.type) {
    case 'resubmit':
      return writeResubmit(writer, action);
    case 'move':
      return writeMove(writer, action);
    case 'load':
      return writeLoad(writer, action);
    case 'controller':
      return writeController(writer, action);
    case 'push':
      return writeStack(writer, subtype.push, action.from);
    case 'pop':
      return writeStack(writer, subtype.pop, action.to);
    case 'output_field':
      return write(writer, subtype.outputField, () =>
        writer.u16(packSpan(action.from)).u32(headerOf(action.from)).u16(WHOLE_PACKET),
      );
    case 'conjunction':
      return write(writer, subtype.conjunction, () =>
        writer
          .u8(action.clause - 1)
          .u8(action.of)
          .u32(action.id),
      );
    case 'note':
      return write(writer, subtype.note, () => writer.bytes(Buffer.from(action.bytes, 'hex')));
    case 'clone':
      return write(writer, subtype.clone, () => writeActions(writer.zeros(6), action.actions));
    case 'ct_clear':
      return write(writer, subtype.ctClear, () => undefined);
    case 'ct':
      return write(writer, subtype.ct, () => writeConntrack(writer, action, writeActions));
    default:
      // Data from a file may be of a later version; a flow without the action would do something else.
      throw new RangeError(`there is no action ${(action as Action).type}`);
  }
}

/** Reads an action of Nicira behind its experimenter number; `undefined` when its subtype is unknown. */
export function readNiciraAction(reader: Reader, readActions: ReadActions): Action | undefined {
  const type = reader.u16();
  const read = readers[type];
  return read?.(reader, readActions);
}

function readResubmit(reader: Reader, plain: boolean, ct: boolean): Action {
  const [port, table] = [reader.u16(), plain ? SAME_TABLE : reader.u8()];
  return {
    type: 'resubmit',
    ...(port === SAME_PORT ? {} : { port: portOfShort(port) }),
    ...(table === SAME_TABLE ? {} : { table }),
    ...(ct ? { ct: true } : {}),
  };
}

function readMove(reader: Reader): Action {
  const [bits, source, target] = [reader.u16(), reader.u16(), reader.u16()];
  const [from, to] = [readFieldHeader(reader), readFieldHeader(reader)];
  return { type: 'move', from: readPart(from, source, bits), to: readPart(to, target, bits) };
}

function readLoad(reader: Reader): Action {
  const span = unpackSpan(reader.u16());
  const to = readPart(readFieldHeader(reader), ...span);
  const value = reader.u64();
  if (value >> BigInt(spanOf(to).bits) !== 0n)
    throw new DecodeError(`${value} does not fit ${to.field}`, 'OFPBAC_BAD_ARGUMENT');
  return { type: 'load', value: value > 0xffff_ffffn ? `0x${value.toString(16)}` : Number(value), to };
}

function readController(reader: Reader): Action {
  const [maxLength, id, why] = [reader.u16(), reader.u16(), reader.u8()];
  const reason = reasons[why];
  if (reason === undefined) throw new DecodeError(`a reason ${why}`, 'OFPBAC_BAD_ARGUMENT');
  return {
    type: 'controller',
    ...(maxLength === WHOLE_PACKET ? {} : { maxLength }),
    ...(id === 0 ? {} : { id }),
    ...(reason === 'action' ? {} : { reason }),
  };
}

function readStack(reader: Reader): Subfield {
  const start = reader.u16();
  return readPart(readFieldHeader(reader), start, reader.u16());
}

function readConjunction(reader: Reader): Action {
  const [clause, of, id] = [reader.u8() + 1, reader.u8(), reader.u32()];
  if (of < 2 || of > 64 || clause > of)
    throw new DecodeError(`clause ${clause} of ${of}`, 'NXBAC_BAD_CONJUNCTION');
  return { type: 'conjunction', id, clause, of };
}

function readOutputField(reader: Reader): Action {
  const span = unpackSpan(reader.u16());
  return { type: 'output_field', from: readPart(readFieldHeader(reader), ...span) };
}

type Read = (reader: Reader, readActions: ReadActions) => Action;
const readers: { readonly [subtype: number]: Read | undefined } = {
  [subtype.resubmit]: (reader) => readResubmit(reader, true, false),
  [subtype.resubmitTable]: (reader) => readResubmit(reader, false, false),
  [subtype.resubmitTableCt]: (reader) => readResubmit(reader, false, true),
  [subtype.move]: readMove,
  [subtype.load]: readLoad,
  [subtype.controller]: readController,
  [subtype.push]: (reader) => ({ type: 'push', from: readStack(reader) }),
  [subtype.pop]: (reader) => ({ type: 'pop', to: readStack(reader) }),
  [subtype.outputField]: readOutputField,
  [subtype.conjunction]: readConjunction,
  [subtype.note]: (reader) => ({ type: 'note', bytes: reader.bytes(reader.remaining).toString('hex') }),
  [subtype.clone]: (reader, readActions) => ({ type: 'clone', actions: readActions(reader.skip(6)) }),
  [subtype.ctClear]: () => ({ type: 'ct_clear' }),
  [subtype.ct]: readConntrack,
};
