/** The action `ct` and its `nat`; ovs-actions(7), "The ct action". */
import {
  addressBits,
  addressFromBytes,
  addressToBytes,
  formatAddress,
  parseAddress,
} from '@podwire/addresses';
import type { Action, Conntrack, Nat } from '../actions.js';
import { DecodeError } from '../errors.js';
import { findFieldByHeader } from '../fields.js';
import type { Reader, Writer } from './bytes.js';
import { EXPERIMENTER, NICIRA } from './constants.js';
import { headerOf, packSpan, readPart, type ReadActions, type WriteActions } from './parts.js';

const COMMIT = 1;
const FORCE = 2;
const NO_TABLE = 0xff;
const NAT_SUBTYPE = 36;
const nat = { src: 1, dst: 2, persistent: 4, hash: 8, random: 16 } as const;
const algPorts = { ftp: 21, tftp: 69 } as const;

/** Writes what follows the header of `ct`. */
export function writeConntrack(writer: Writer, action: Conntrack, writeActions: WriteActions): void {
  const { commit, force, zone = 0, table = NO_TABLE, alg } = action;
  writer.u16((commit ? COMMIT : 0) | (force ? FORCE : 0));
  if (typeof zone === 'number') writer.u32(0).u16(zone);
  else writer.u32(headerOf(zone)).u16(packSpan(zone));
  writer.u8(table).zeros(3);
  writer.u16(alg === undefined ? 0 : algPorts[alg]);
  if (action.nat !== undefined) writeNat(writer, action.nat);
  writeActions(writer, action.exec ?? []);
}

const flagsOf = ({ direction, persistent, choice }: Nat): number =>
  (direction === undefined ? 0 : nat[direction]) |
  (persistent ? nat.persistent : 0) |
  (choice === undefined ? 0 : nat[choice]);

/** Bits of the parts of a range that are written; those of IPv6 follow those of IPv4. */
const rangeBits = (isIpv6: boolean, addresses: number): number => ((1 << addresses) - 1) << (isIpv6 ? 2 : 0);

function writeNat(writer: Writer, { addresses, ports, ...rest }: Nat): void {
  const start = writer.length;
  const ends = (addresses?.split('-') ?? []).map(parseAddress);
  const portEnds = ports === undefined ? [] : ports[0] === ports[1] ? [ports[0]] : ports;
  const isIpv6 = ends[0]?.family === 6;
  if (ends.length > 2 || (ends[1]?.family !== ends.at(-1)?.family && ends.length === 2))
    throw new RangeError(`not a range of addresses: ${addresses}`);
  writer.u16(EXPERIMENTER).u16(0).u32(NICIRA).u16(NAT_SUBTYPE).zeros(2).u16(flagsOf(rest));
  writer.u16(rangeBits(isIpv6, ends.length) | (((1 << portEnds.length) - 1) << 4));
  for (const end of ends) writer.bytes(addressToBytes(end));
  for (const port of portEnds) writer.u16(port);
  writer.padFrom(start).lengthSince(start);
}

/** Reads what follows the header of `ct`. */
export function readConntrack(reader: Reader, readActions: ReadActions): Action {
  const flags = reader.u16();
  const [zoneHeader, zoneNumber, table] = [reader.u32(), reader.u16(), reader.u8()];
  const alg = reader.skip(3).u16();
  const nested = readNested(reader, readActions);
  return {
    type: 'ct',
    ...(flags & COMMIT ? { commit: true } : {}),
    ...(flags & FORCE ? { force: true } : {}),
    ...(table === NO_TABLE ? {} : { table }),
    ...readZone(zoneHeader, zoneNumber),
    ...nested,
    ...readAlg(alg),
  };
}

function readZone(header: number, number: number): Pick<Conntrack, 'zone'> {
  if (header === 0) return number === 0 ? {} : { zone: number };
  const field = findFieldByHeader(header);
  if (field === undefined) throw new DecodeError('a zone of an unknown field', 'OFPBMC_BAD_FIELD');
  return { zone: readPart(field, number >> 6, (number & 63) + 1) };
}

function readAlg(port: number): Pick<Conntrack, 'alg'> {
  if (port === 0) return {};
  const alg = (['ftp', 'tftp'] as const).find((name) => algPorts[name] === port);
  if (alg === undefined) throw new DecodeError(`a helper of port ${port}`, 'OFPBAC_BAD_ARGUMENT');
  return { alg };
}

/** `nat` stands among the actions that are executed on the connection. */
function readNested(reader: Reader, readActions: ReadActions): Pick<Conntrack, 'nat' | 'exec'> {
  const parts: Pick<Conntrack, 'nat'>[] = [];
  while (isNat(reader)) parts.push({ nat: readNat(reader.part(reader.peek16(2))) });
  const exec = readActions(reader);
  return { ...parts[0], ...(exec.length > 0 ? { exec } : {}) };
}

const isNat = (reader: Reader): boolean =>
  reader.remaining >= 16 && reader.peek16(0) === EXPERIMENTER && reader.peek16(8) === NAT_SUBTYPE;

function readNat(reader: Reader): Nat {
  const flags = reader.skip(12).u16();
  const present = reader.u16();
  const address = (bit: number, family: 4 | 6): string[] =>
    present & bit ? [formatAddress(addressFromBytes(reader.bytes(addressBits(family) / 8)))] : [];
  const ends = [...address(1, 4), ...address(2, 4), ...address(4, 6), ...address(8, 6)];
  const [first, last] = [16, 32].map((bit) => (present & bit ? reader.u16() : undefined));
  return {
    ...(flags & nat.src ? { direction: 'src' } : flags & nat.dst ? { direction: 'dst' } : {}),
    ...(ends.length > 0 ? { addresses: ends.join('-') } : {}),
    ...(first === undefined ? {} : { ports: [first, last ?? first] }),
    ...(flags & nat.persistent ? { persistent: true } : {}),
    ...(flags & nat.hash ? { choice: 'hash' } : flags & nat.random ? { choice: 'random' } : {}),
  };
}
