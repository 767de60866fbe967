/** Changes of flows, and flows in dumps: OpenFlow 1.4.0, 7.3.4.2 and 7.3.5.2. */
import { DecodeError } from '../errors.js';
import { parseFieldValue } from '../field-value.js';
import {
  DEFAULT_PRIORITY,
  type Flow,
  type FlowCommand,
  type FlowEntry,
  type FlowFlag,
  type FlowMod,
  type FlowSelector,
} from '../flow.js';
import { portNumber, portOf } from '../ports.js';
import type { Reader, Writer } from './bytes.js';
import { ALL_TABLES, ANY, NO_BUFFER } from './constants.js';
import { readInstructions, writeInstructions } from './instructions.js';
import { readMatch, writeMatch } from './match.js';

const commands: readonly FlowCommand[] = ['add', 'modify', 'modify_strict', 'delete', 'delete_strict'];
const CHECK_OVERLAP = 2;
const RESET_COUNTS = 4;
const flagBits: readonly (readonly [FlowFlag, number])[] = [
  ['send_flow_rem', 1],
  ['no_packet_counts', 8],
  ['no_byte_counts', 16],
];

const flagsOf = (flags: readonly FlowFlag[] = []): number =>
  flagBits.reduce((bits, [name, bit]) => (flags.includes(name) ? bits | bit : bits), 0);

const readFlags = (bits: number): readonly FlowFlag[] =>
  flagBits.filter(([, bit]) => bits & bit).map(([name]) => name);

/** A cookie has the width and the notation of metadata. */
export const parseCookie = (text: string) => parseFieldValue('metadata', text);
export const formatCookie = (value: bigint): string => `0x${value.toString(16)}`;

const isDeletion = (command: FlowCommand): boolean => command.startsWith('delete');

/** A change that names no table means table 0; a deletion, and a change of many, mean every table. */
const tableOf = ({ command, flow }: FlowMod): number =>
  flow.table ?? (command === 'delete' || command === 'modify' ? ALL_TABLES : 0);

function writeCookie(writer: Writer, { flow, cookieFilter }: FlowMod): void {
  const filter = cookieFilter === undefined ? { value: 0n, mask: 0n } : parseCookie(cookieFilter);
  const cookie = flow.cookie === undefined ? filter.value : parseCookie(flow.cookie).value;
  writer.u64(cookie).u64(filter.mask);
}

/** @throws RangeError when the data cannot be encoded */
export function writeFlowMod(writer: Writer, change: FlowMod): void {
  const { command, flow } = change;
  writeCookie(writer, change);
  writer.u8(tableOf(change)).u8(commands.indexOf(command));
  writer.u16(flow.idleTimeout ?? 0).u16(flow.hardTimeout ?? 0);
  writer.u16(flow.priority ?? DEFAULT_PRIORITY).u32(NO_BUFFER);
  writer.u32(portNumber(change.outPort ?? 'ANY')).u32(change.outGroup ?? ANY);
  const extra = (change.checkOverlap ? CHECK_OVERLAP : 0) | (change.resetCounts ? RESET_COUNTS : 0);
  writer.u16(flagsOf(flow.flags) | extra).u16(flow.importance ?? 0);
  writeMatch(writer, flow.match ?? {});
  if (!isDeletion(command)) writeInstructions(writer, flow);
}

interface Timing {
  readonly idle: number;
  readonly hard: number;
  readonly importance: number;
  readonly flags: number;
  readonly cookie: bigint;
}

const describeTiming = ({ idle, hard, importance, flags, cookie }: Timing): Partial<Flow> => ({
  ...(cookie === 0n ? {} : { cookie: formatCookie(cookie) }),
  ...(idle === 0 ? {} : { idleTimeout: idle }),
  ...(hard === 0 ? {} : { hardTimeout: hard }),
  ...(importance === 0 ? {} : { importance }),
  ...(readFlags(flags).length === 0 ? {} : { flags: readFlags(flags) }),
});

function readCommand(reader: Reader): FlowCommand {
  const command = commands[reader.u8()];
  if (command === undefined) throw new DecodeError('an unknown command', 'OFPFMFC_BAD_COMMAND');
  return command;
}

function readFilters(reader: Reader): Pick<FlowSelector, 'outPort' | 'outGroup'> {
  const [port, group] = [portOf(reader.u32()), reader.u32()];
  return {
    ...(port === 'ANY' ? {} : { outPort: port }),
    ...(group === ANY ? {} : { outGroup: group }),
  };
}

const readCookieFilter = (cookie: bigint, mask: bigint): Pick<FlowSelector, 'cookieFilter'> =>
  mask === 0n ? {} : { cookieFilter: `${formatCookie(cookie & mask)}/${formatCookie(mask)}` };

/** @throws DecodeError with the refusal of a switch */
export function readFlowMod(reader: Reader): FlowMod {
  const [cookie, mask, table] = [reader.u64(), reader.u64(), reader.u8()];
  const command = readCommand(reader);
  const [idle, hard, priority] = [reader.u16(), reader.u16(), reader.u16()];
  const filters = readFilters(reader.skip(4));
  const [flags, importance] = [reader.u16(), reader.u16()];
  const match = readMatch(reader);
  // Elsewhere the cookie is a part of the filter.
  const timing = { idle, hard, importance, flags, cookie: command === 'add' ? cookie : 0n };
  const where = table === ALL_TABLES ? {} : { table };
  const instructions = isDeletion(command) ? {} : readInstructions(reader);
  return {
    type: 'flow_mod',
    command,
    flow: { ...where, priority, match, ...describeTiming(timing), ...instructions },
    ...readCookieFilter(cookie, mask),
    ...filters,
    ...(flags & CHECK_OVERLAP ? { checkOverlap: true } : {}),
    ...(flags & RESET_COUNTS ? { resetCounts: true } : {}),
  };
}

export function writeFlowSelector(writer: Writer, selector: FlowSelector): void {
  const { value, mask } =
    selector.cookieFilter === undefined ? { value: 0n, mask: 0n } : parseCookie(selector.cookieFilter);
  writer.u8(selector.table ?? ALL_TABLES).zeros(3);
  writer
    .u32(portNumber(selector.outPort ?? 'ANY'))
    .u32(selector.outGroup ?? ANY)
    .zeros(4);
  writer.u64(value).u64(mask);
  writeMatch(writer, selector.match ?? {});
}

export function readFlowSelector(reader: Reader): FlowSelector {
  const table = reader.u8();
  const filters = readFilters(reader.skip(3));
  const [cookie, mask] = [reader.skip(4).u64(), reader.u64()];
  const match = readMatch(reader);
  const where = table === ALL_TABLES ? {} : { table };
  return { ...where, ...filters, ...readCookieFilter(cookie, mask), match };
}

/** A counter of all ones is one that is not kept. */
const NOT_COUNTED = 0xffff_ffff_ffff_ffffn;

export const writeCounter = (writer: Writer, count: number | undefined): Writer =>
  writer.u64(count === undefined ? NOT_COUNTED : BigInt(count));

export const readCounter = (reader: Reader): number | undefined => {
  const count = reader.u64();
  return count === NOT_COUNTED ? undefined : Number(count);
};

export const writeDuration = (writer: Writer, seconds: number): Writer =>
  writer.u32(Math.floor(seconds)).u32(Math.round((seconds % 1) * 1e9));

export const readDuration = (reader: Reader): number => reader.u32() + reader.u32() / 1e9;

/** An entry of a dump, with its length in front. */
export function writeFlowEntry(writer: Writer, { flow, packets, bytes, duration }: FlowEntry): void {
  const start = writer.length;
  writer
    .u16(0)
    .u8(flow.table ?? 0)
    .zeros(1);
  writeDuration(writer, duration);
  writer
    .u16(flow.priority ?? DEFAULT_PRIORITY)
    .u16(flow.idleTimeout ?? 0)
    .u16(flow.hardTimeout ?? 0);
  writer
    .u16(flagsOf(flow.flags))
    .u16(flow.importance ?? 0)
    .zeros(2);
  writer.u64(parseCookie(flow.cookie ?? '0').value);
  writeCounter(writeCounter(writer, packets), bytes);
  writeMatch(writer, flow.match ?? {});
  writeInstructions(writer, flow);
  writer.lengthSince(start, start);
}

export function readFlowEntry(reader: Reader): FlowEntry {
  const table = reader.u8();
  const duration = readDuration(reader.skip(1));
  const [priority, idle, hard, flags] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  const [importance, cookie] = [reader.u16(), reader.skip(2).u64()];
  const [packets, bytes] = [readCounter(reader), readCounter(reader)];
  const timing = describeTiming({ idle, hard, importance, flags, cookie });
  const flow = { table, priority, match: readMatch(reader), ...timing, ...readInstructions(reader) };
  return {
    flow,
    duration,
    ...(packets === undefined ? {} : { packets }),
    ...(bytes === undefined ? {} : { bytes }),
  };
}
