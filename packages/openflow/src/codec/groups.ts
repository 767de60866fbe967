/** Groups and meters: OpenFlow 1.4.0, 7.3.4.3, 7.3.4.4 and the dumps of 7.3.5. */
import { DecodeError } from '../errors.js';
import type {
  Bucket,
  Group,
  GroupMod,
  GroupStatistics,
  GroupType,
  Meter,
  MeterBand,
  MeterMod,
} from '../group.js';
import { portNumber, portOf } from '../ports.js';
import { readActions, writeActions } from './actions.js';
import type { Reader, Writer } from './bytes.js';
import { ANY } from './constants.js';
import { readDuration, writeDuration } from './flow-mod.js';

const commands: readonly GroupMod['command'][] = ['add', 'modify', 'delete'];
const types: readonly GroupType[] = ['all', 'select', 'indirect', 'fast_failover'];

function writeBucket(writer: Writer, bucket: Bucket, type: GroupType): void {
  const start = writer.length;
  writer.u16(0).u16(bucket.weight ?? (type === 'select' ? 1 : 0));
  writer
    .u32(portNumber(bucket.watchPort ?? 'ANY'))
    .u32(bucket.watchGroup ?? ANY)
    .zeros(4);
  writeActions(writer, bucket.actions);
  writer.lengthSince(start, start);
}

function readBuckets(reader: Reader, type: GroupType): Bucket[] {
  const buckets: Bucket[] = [];
  while (reader.remaining > 0) {
    const length = reader.u16();
    if (length < 16 || length - 2 > reader.remaining)
      throw new DecodeError(`a bucket of ${length} bytes`, 'OFPBAC_BAD_LEN');
    buckets.push(readBucket(reader.part(length - 2), type));
  }
  return buckets;
}

function readBucket(reader: Reader, type: GroupType): Bucket {
  const [weight, port, group] = [reader.u16(), portOf(reader.u32()), reader.u32()];
  return {
    ...(weight === (type === 'select' ? 1 : 0) ? {} : { weight }),
    ...(port === 'ANY' ? {} : { watchPort: port }),
    ...(group === ANY ? {} : { watchGroup: group }),
    actions: readActions(reader.skip(4)),
  };
}

function writeBuckets(writer: Writer, { type, buckets }: Group): void {
  for (const bucket of buckets) writeBucket(writer, bucket, type);
}

function readType(reader: Reader): GroupType {
  const type = types[reader.u8()];
  if (type === undefined) throw new DecodeError('a group of an unknown type', 'OFPGMFC_BAD_TYPE');
  return type;
}

export function writeGroupMod(writer: Writer, { command, group }: GroupMod): void {
  writer.u16(commands.indexOf(command)).u8(types.indexOf(group.type)).zeros(1).u32(group.id);
  writeBuckets(writer, group);
}

export function readGroupMod(reader: Reader): GroupMod {
  const command = commands[reader.u16()];
  if (command === undefined) throw new DecodeError('an unknown command', 'OFPGMFC_BAD_COMMAND');
  const type = readType(reader);
  const id = reader.skip(1).u32();
  return { type: 'group_mod', command, group: { id, type, buckets: readBuckets(reader, type) } };
}

/** An entry of a dump, with its length in front. */
export function writeGroup(writer: Writer, group: Group): void {
  const start = writer.length;
  writer.u16(0).u8(types.indexOf(group.type)).zeros(1).u32(group.id);
  writeBuckets(writer, group);
  writer.lengthSince(start, start);
}

export function readGroup(reader: Reader): Group {
  const type = readType(reader);
  const id = reader.skip(1).u32();
  return { id, type, buckets: readBuckets(reader, type) };
}

const writeCounts = (writer: Writer, { packets, bytes }: { packets: number; bytes: number }): Writer =>
  writer.u64(BigInt(packets)).u64(BigInt(bytes));

const readCounts = (reader: Reader): { packets: number; bytes: number } => ({
  packets: Number(reader.u64()),
  bytes: Number(reader.u64()),
});

export function writeGroupStatistics(writer: Writer, statistics: GroupStatistics): void {
  const start = writer.length;
  writer.u16(0).zeros(2).u32(statistics.id).u32(statistics.references).zeros(4);
  writeCounts(writer, statistics);
  writeDuration(writer, statistics.duration);
  for (const bucket of statistics.buckets) writeCounts(writer, bucket);
  writer.lengthSince(start, start);
}

export function readGroupStatistics(reader: Reader): GroupStatistics {
  const [id, references] = [reader.skip(2).u32(), reader.u32()];
  const counts = readCounts(reader.skip(4));
  const duration = readDuration(reader);
  const buckets = [];
  while (reader.remaining > 0) buckets.push(readCounts(reader));
  return { id, references, ...counts, duration, buckets };
}

const meterFlag = { kbps: 1, pktps: 2, burst: 4, statistics: 8 } as const;
/** The other type of the protocol, which marks packets, is unknown to Open vSwitch. */
const DROP = 1;

function writeBands(writer: Writer, { bands }: Meter): void {
  for (const { rate, burst = 0 } of bands) writer.u16(DROP).u16(16).u32(rate).u32(burst).zeros(4);
}

const meterFlags = ({ unit, burst, statistics }: Meter): number =>
  meterFlag[unit] | (burst ? meterFlag.burst : 0) | (statistics ? meterFlag.statistics : 0);

function readBand(reader: Reader): MeterBand {
  const [type, length] = [reader.u16(), reader.u16()];
  if (type !== DROP) throw new DecodeError(`a band of type ${type}`, 'OFPMMFC_BAD_BAND');
  if (length !== 16) throw new DecodeError(`a band of ${length} bytes`);
  const [rate, burst] = [reader.u32(), reader.u32()];
  reader.skip(4);
  return { rate, ...(burst === 0 ? {} : { burst }) };
}

function readMeterBody(flags: number, id: number, reader: Reader): Meter {
  const bands = [];
  while (reader.remaining > 0) bands.push(readBand(reader));
  return {
    id,
    unit: flags & meterFlag.pktps ? 'pktps' : 'kbps',
    ...(flags & meterFlag.burst ? { burst: true } : {}),
    ...(flags & meterFlag.statistics ? { statistics: true } : {}),
    bands,
  };
}

export function writeMeterMod(writer: Writer, { command, meter }: MeterMod): void {
  writer.u16(commands.indexOf(command)).u16(meterFlags(meter)).u32(meter.id);
  writeBands(writer, meter);
}

export function readMeterMod(reader: Reader): MeterMod {
  const command = commands[reader.u16()];
  if (command === undefined) throw new DecodeError('an unknown command', 'OFPMMFC_BAD_COMMAND');
  const flags = reader.u16();
  return { type: 'meter_mod', command, meter: readMeterBody(flags, reader.u32(), reader) };
}

/** An entry of a dump, with its length in front. */
export function writeMeter(writer: Writer, meter: Meter): void {
  const start = writer.length;
  writer.u16(0).u16(meterFlags(meter)).u32(meter.id);
  writeBands(writer, meter);
  writer.lengthSince(start, start);
}

export const readMeter = (reader: Reader): Meter => readMeterBody(reader.u16(), reader.u32(), reader);
