/** Lists on request: OpenFlow 1.4.0, 7.3.5. Each kind is one line of {@link kinds}. */
import { DecodeError } from '../errors.js';
import type { DumpKind, DumpReply, DumpRequest, Dumps, Message } from '../message.js';
import type { TableStatistics } from '../port-description.js';
import type { Reader, Writer } from './bytes.js';
import { ANY, FLOW_MONITOR } from './constants.js';
import {
  readPortDescription,
  readPortStatistics,
  writePortDescription,
  writePortStatistics,
} from './events.js';
import { readFlowChanges, readFlowMonitor } from './flow-monitor.js';
import { readFlowEntry, readFlowSelector, writeFlowEntry, writeFlowSelector } from './flow-mod.js';
import {
  readGroup,
  readGroupStatistics,
  readMeter,
  writeGroup,
  writeGroupStatistics,
  writeMeter,
} from './groups.js';

type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;

const MORE = 1;

interface Kind<Entry> {
  readonly number: number;
  /** The body of a request for all of them. */
  request(writer: Writer): void;
  write(writer: Writer, entry: Entry): void;
  /** Reads one entry from the rest of the list. */
  read(reader: Reader): Entry;
}

/** An entry that begins with its length. */
const measured =
  <T>(read: (part: Reader) => T) =>
  (reader: Reader): T => {
    const length = reader.u16();
    if (length < 8) throw new DecodeError(`an entry of ${length} bytes`);
    return read(reader.part(length - 2));
  };

const none = (): void => undefined;
const every = (writer: Writer): void => void writer.u32(ANY).zeros(4);
const EVERY_GROUP = 0xfffffffc;
const everyGroup = (writer: Writer): void => void writer.u32(EVERY_GROUP).zeros(4);

function writeTable(writer: Writer, { table, active, lookups, matches }: TableStatistics): void {
  writer.u8(table).zeros(3).u32(active).u64(BigInt(lookups)).u64(BigInt(matches));
}

const readTable = (reader: Reader): TableStatistics => ({
  table: reader.u8(),
  active: reader.skip(3).u32(),
  lookups: Number(reader.u64()),
  matches: Number(reader.u64()),
});

const kinds: { readonly [Name in DumpKind]: Kind<Dumps[Name]> } = {
  flow: {
    number: 1,
    request: (writer) => writeFlowSelector(writer, {}),
    write: writeFlowEntry,
    read: measured(readFlowEntry),
  },
  table: { number: 3, request: none, write: writeTable, read: readTable },
  port: { number: 4, request: every, write: writePortStatistics, read: measured(readPortStatistics) },
  group: { number: 6, request: everyGroup, write: writeGroupStatistics, read: measured(readGroupStatistics) },
  groupDescription: { number: 7, request: none, write: writeGroup, read: measured(readGroup) },
  meterConfig: { number: 10, request: every, write: writeMeter, read: measured(readMeter) },
  portDescription: { number: 13, request: none, write: writePortDescription, read: readPortDescription },
};

const nameOf = (number: number): DumpKind => {
  const found = Object.entries(kinds).find(([, kind]) => kind.number === number);
  if (found === undefined) throw new DecodeError(`a list of kind ${number}`, 'OFPBRC_BAD_MULTIPART');
  return found[0] as DumpKind;
};

export function writeDumpRequest(writer: Writer, { kind, selector }: DumpRequest): void {
  writer.u16(kinds[kind].number).u16(0).zeros(4);
  if (kind === 'flow' && selector !== undefined) writeFlowSelector(writer, selector);
  else kinds[kind].request(writer);
}

/** A request for a list, or for reports of changes, which is a list in the protocol. */
export function readListRequest(reader: Reader): DumpRequest | Of<'flow_monitor'> {
  const number = reader.u16();
  if (number === FLOW_MONITOR) return readFlowMonitor(reader);
  const kind = nameOf(number);
  reader.skip(6);
  if (kind !== 'flow') return { type: 'dump_request', kind };
  return { type: 'dump_request', kind, selector: readFlowSelector(reader) };
}

export function writeDumpReply(writer: Writer, { kind, entries, more }: DumpReply): void {
  writer
    .u16(kinds[kind].number)
    .u16(more ? MORE : 0)
    .zeros(4);
  // The type of the kind and that of its entries belong together, which an indexed access does not show.
  const found = kinds[kind] as Kind<Dumps[DumpKind]>;
  for (const entry of entries) found.write(writer, entry);
}

export function readList(reader: Reader): DumpReply | Of<'flow_changes'> {
  const number = reader.u16();
  if (number === FLOW_MONITOR) return readFlowChanges(reader);
  const kind = nameOf(number);
  const more = (reader.u16() & MORE) !== 0;
  reader.skip(4);
  const entries: Dumps[DumpKind][] = [];
  while (reader.remaining > 0) entries.push(kinds[kind].read(reader));
  return { type: 'dump_reply', kind, entries, more } as DumpReply;
}
