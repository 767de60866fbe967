/** Reports of changes of flows: OpenFlow 1.4.0, 7.3.5. */
import { DecodeError } from '../errors.js';
import type { Flow } from '../flow.js';
import type { Message } from '../message.js';
import type { FlowChange } from '../port-description.js';
import type { Reader, Writer } from './bytes.js';
import { ALL_TABLES, ANY, FLOW_MONITOR } from './constants.js';
import { formatCookie, parseCookie } from './flow-mod.js';
import { readMatch, writeMatch } from './match.js';

type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;
type Monitor = Of<'flow_monitor'>;
type Changes = Of<'flow_changes'>;

/** The only one of a connection. */
const MONITOR = 1;
const commands = { add: 0, delete: 2 } as const;
/** Flows that are added, removed and modified; own changes are abbreviated, and those that are there already left out. */
const FLAGS = 0b1110;

/** Numbers of events; `initial` counts as added. */
const INITIAL = 0;
const ABBREVIATED = 4;
const PAUSED = 5;
const RESUMED = 6;
const events = { add: 1, delete: 2, modify: 3 } as const;

export function writeFlowMonitor(writer: Writer, { command }: Monitor): void {
  writer.u16(FLOW_MONITOR).u16(0).zeros(4);
  writer.u32(MONITOR).u32(ANY).u32(ANY).u16(FLAGS).u8(ALL_TABLES).u8(commands[command]);
  writeMatch(writer, {});
}

/** From behind the kind of the list. */
export function readFlowMonitor(reader: Reader): Monitor {
  const command = reader.skip(6 + 15).u8();
  readMatch(reader);
  return { type: 'flow_monitor', command: command === commands.delete ? 'delete' : 'add' };
}

function writeChange(writer: Writer, change: FlowChange): void {
  const start = writer.length;
  writer.u16(0);
  if (change.change === 'missed') writer.u16(RESUMED).zeros(4);
  else writeFlow(writer.u16(events[change.change]), change.flow);
  writer.lengthSince(start, start);
}

function writeFlow(writer: Writer, flow: Flow): void {
  const { table = 0, priority = 0, idleTimeout = 0, hardTimeout = 0, match = {}, cookie = '0' } = flow;
  writer.u8(table).zeros(1).u16(idleTimeout).u16(hardTimeout).u16(priority).zeros(4);
  writer.u64(parseCookie(cookie).value);
  writeMatch(writer, match);
}

function readFlow(reader: Reader): Flow {
  const [table, idle, hard, priority] = [reader.u8(), reader.skip(1).u16(), reader.u16(), reader.u16()];
  const cookie = reader.skip(4).u64();
  const match = readMatch(reader);
  return {
    ...{ table, priority, match },
    ...(cookie === 0n ? {} : { cookie: formatCookie(cookie) }),
    ...(idle === 0 ? {} : { idleTimeout: idle }),
    ...(hard === 0 ? {} : { hardTimeout: hard }),
  };
}

export function writeFlowChanges(writer: Writer, { changes }: Changes): void {
  writer.u16(FLOW_MONITOR).u16(0).zeros(4);
  for (const change of changes) writeChange(writer, change);
}

/** From behind the kind of the list. */
export function readFlowChanges(reader: Reader): Changes {
  reader.skip(6);
  const changes: FlowChange[] = [];
  while (reader.remaining > 0) changes.push(...readChange(reader));
  return { type: 'flow_changes', changes };
}

function readChange(reader: Reader): FlowChange[] {
  const [length, event] = [reader.u16(), reader.u16()];
  if (length < 8) throw new DecodeError(`a change of ${length} bytes`);
  const part = reader.part(length - 4);
  switch (event) {
    // An abbreviation is about this connection; the pause is over when it is resumed.
    case ABBREVIATED:
    case PAUSED:
      return [];
    case RESUMED:
      return [{ type: 'flow_change', change: 'missed' }];
    default:
      return [{ type: 'flow_change', change: changeOf(event), flow: readFlow(part) }];
  }
}

function changeOf(event: number): keyof typeof events {
  if (event === INITIAL || event === events.add) return 'add';
  if (event === events.delete) return 'delete';
  if (event === events.modify) return 'modify';
  throw new DecodeError(`a change of a flow ${event}`);
}
