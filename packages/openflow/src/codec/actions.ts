/** The list of actions: OpenFlow 1.4.0, 7.2.5. Those of Nicira are in `nicira-actions.ts`. */
import type { Action, SetField } from '../actions.js';
import { DecodeError } from '../errors.js';
import { formatFieldValue, parseFieldValue } from '../field-value.js';
import { fieldOf } from '../fields.js';
import { portNumber, portOf } from '../ports.js';
import { Reader, type Writer } from './bytes.js';
import { actionType, EXPERIMENTER, NICIRA } from './constants.js';
import { readNiciraAction, writeNiciraAction } from './nicira-actions.js';
import { readField, writeField, type FieldEntry } from './oxm.js';

/** `ct` and `clone` hold actions; a list deeper than this is refused. */
const DEEPEST = 16;
const WHOLE_PACKET = 0xffff;

export function writeActions(writer: Writer, actions: readonly Action[]): void {
  for (const action of actions) writeAction(writer, action);
}

function begin(writer: Writer, type: number, length: number): Writer {
  return writer.u16(type).u16(length);
}

function writeOutput(writer: Writer, port: number, maxLength: number): void {
  begin(writer, actionType.output, 16).u32(port).u16(maxLength).zeros(6);
}

function writeSetField(writer: Writer, { field: name, value }: SetField): void {
  const start = writer.length;
  const field = fieldOf(name);
  const masked = parseFieldValue(name, value);
  if (masked.mask !== field.valid) throw new RangeError(`set_field of ${name} takes no mask; there is load`);
  begin(writer, actionType.setField, 0);
  writeField(writer, field, masked);
  writer.padFrom(start).lengthSince(start);
}

function writeAction(writer: Writer, action: Action): void {
  switch (action.type) {
    case 'output':
      return writeOutput(writer, portNumber(action.port), action.port === 'CONTROLLER' ? WHOLE_PACKET : 0);
    case 'group':
      return void begin(writer, actionType.group, 8).u32(action.group);
    case 'set_queue':
      return void begin(writer, actionType.setQueue, 8).u32(action.queue);
    case 'set_field':
      return writeSetField(writer, action);
    case 'push_vlan':
      return void begin(writer, actionType.pushVlan, 8).u16(action.etherType).zeros(2);
    case 'pop_vlan':
      return void begin(writer, actionType.popVlan, 8).zeros(4);
    case 'dec_ttl':
      return void begin(writer, actionType.decTtl, 8).zeros(4);
    case 'controller':
      if (action.id === undefined && action.reason === undefined)
        return writeOutput(writer, portNumber('CONTROLLER'), action.maxLength ?? WHOLE_PACKET);
      return writeNiciraAction(writer, action, writeActions);
    case 'raw':
      return void writer.bytes(Buffer.from(action.bytes, 'hex'));
    default:
      return writeNiciraAction(writer, action, writeActions);
  }
}

/** @throws DecodeError with the refusal of a switch */
export function readActions(reader: Reader, depth = 0): Action[] {
  if (depth > DEEPEST) throw new DecodeError('actions in actions are too deep', 'OFPBAC_TOO_MANY');
  const actions: Action[] = [];
  while (reader.remaining > 0) {
    const length = reader.peek16(2);
    if (length < 8 || length % 8 !== 0 || length > reader.remaining)
      throw new DecodeError(`an action of ${length} bytes`, 'OFPBAC_BAD_LEN');
    actions.push(readAction(reader.bytes(length), depth));
  }
  return actions;
}

function readAction(bytes: Buffer, depth: number): Action {
  return readKnown(new Reader(bytes), depth) ?? { type: 'raw', bytes: bytes.toString('hex') };
}

/** Undefined for an unknown action, and for a known one with an unknown field. */
function readKnown(reader: Reader, depth: number): Action | undefined {
  const type = reader.u16();
  reader.skip(2);
  try {
    return type === EXPERIMENTER ? readExperimenter(reader, depth) : readStandard(type, reader);
  } catch (error) {
    if (error instanceof DecodeError && error.refusal === 'OFPBMC_BAD_FIELD') return undefined;
    throw error;
  }
}

function readExperimenter(reader: Reader, depth: number): Action | undefined {
  if (reader.u32() !== NICIRA) return undefined;
  return readNiciraAction(reader, (part) => readActions(part, depth + 1));
}

function readStandard(type: number, reader: Reader): Action | undefined {
  switch (type) {
    case actionType.output:
      return readOutput(reader);
    case actionType.group:
      return { type: 'group', group: reader.u32() };
    case actionType.setQueue:
      return { type: 'set_queue', queue: reader.u32() };
    case actionType.setField:
      return readSetField(reader);
    case actionType.pushVlan:
      return { type: 'push_vlan', etherType: reader.u16() };
    case actionType.popVlan:
      return { type: 'pop_vlan' };
    case actionType.decTtl:
      return { type: 'dec_ttl' };
    default:
      return undefined;
  }
}

function readOutput(reader: Reader): Action {
  const [port, maxLength] = [portOf(reader.u32()), reader.u16()];
  if (port !== 'CONTROLLER') return { type: 'output', port };
  return maxLength === WHOLE_PACKET ? { type: 'controller' } : { type: 'controller', maxLength };
}

/** Errors of the value are those of an action here. */
function readValue(reader: Reader): FieldEntry {
  try {
    return readField(reader);
  } catch (error) {
    if (!(error instanceof DecodeError) || error.refusal !== 'OFPBMC_BAD_VALUE') throw error;
    throw new DecodeError(error.message, 'OFPBAC_BAD_SET_ARGUMENT');
  }
}

function readSetField(reader: Reader): Action {
  const { field, value, mask } = readValue(reader);
  if (mask !== field.valid) throw new DecodeError(`${field.name} is set with a mask`, 'OFPBAC_BAD_SET_MASK');
  return { type: 'set_field', field: field.name, value: formatFieldValue(field.name, { value, mask }) };
}
