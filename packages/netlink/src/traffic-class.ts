import { compact } from '@podwire/platform';
import type { Attributes } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { dumpUnless } from './dump.js';
import { DecodeError } from './errors.js';
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';
import { type QueueStatistics, readQueueStatistics } from './qdisc.js';
import * as tc from './tc-attributes.js';
import { readTcMessage, writeTcHeader } from './tc-message.js';
import { bytesIn, TC_RATESPEC, ticksOf, writeRate64, writeRateSpec } from './traffic-rate.js';

/** A class of an HTB qdisc (tc-htb(8)). Rates are in bits per second, bursts in bytes. */
export interface HtbClassSettings {
  readonly rate: number;
  /** Rate up to which it may borrow; the rate itself when absent. */
  readonly ceil?: number;
  /** Bytes that may pass at once; a millisecond at the rate, and at least one large packet, when absent. */
  readonly burst?: number;
  readonly ceilBurst?: number;
  /** 0 (the default) is served first. */
  readonly priority?: number;
}

export interface NewHtbClass extends HtbClassSettings {
  readonly link: number;
  /** The qdisc or class above. */
  readonly parent: number;
  readonly handle: number;
}

export interface TrafficClass {
  readonly link: number;
  readonly handle: number;
  readonly parent: number;
  readonly kind: string;
  readonly settings?: Required<HtbClassSettings>;
  /** TCA_OPTIONS as it is, for other kinds than HTB. */
  readonly options?: Uint8Array;
  readonly statistics?: QueueStatistics;
}

const TCA_HTB_PARMS = 1;
const TCA_HTB_RATE64 = 6;
const TCA_HTB_CEIL64 = 7;
const TC_HTB_OPT = 44;

/** Adds a class. EEXIST when the qdisc has one of this handle. */
export function addClassRequest(settings: NewHtbClass): NetlinkRequest {
  return newClass(settings, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

/** Adds a class or changes the one that is there. */
export function replaceClassRequest(settings: NewHtbClass): NetlinkRequest {
  return newClass(settings, NLM_F_CREATE | NLM_F_REPLACE, 'replace');
}

/** Deletes a class. EBUSY while filters or classes below refer to it, ENOENT when there is none. */
export function deleteClassRequest({ link, handle }: { link: number; handle: number }): NetlinkRequest {
  const payload = writeTcHeader({ link, handle, parent: 0, info: 0 }).finish();
  return { type: tc.RTM_DELTCLASS, flags: 0, payload, label: `delete class ${handle.toString(16)}` };
}

function newClass(settings: NewHtbClass, flags: number, verb: string): NetlinkRequest {
  const { link, parent, handle, rate, ceil = rate } = settings;
  const writer = writeTcHeader({ link, handle, parent, info: 0 }).text(tc.TCA_KIND, 'htb');
  writer.nest(tc.TCA_OPTIONS, () => {
    writer.bytes(TCA_HTB_PARMS, encodeParameters(settings, ceil));
    writeRate64(writer, TCA_HTB_RATE64, rate);
    writeRate64(writer, TCA_HTB_CEIL64, ceil);
  });
  const label = `${verb} class ${handle.toString(16)}`;
  return { type: tc.RTM_NEWTCLASS, flags, payload: writer.finish(), label };
}

/** struct tc_htb_opt: rate, ceil (tc_ratespec), buffer, ceil buffer (ticks), quantum, level, priority (u32 each). */
function encodeParameters(settings: NewHtbClass, ceil: number): Buffer {
  const { rate, burst = defaultBurst(rate), ceilBurst = defaultBurst(ceil), priority = 0 } = settings;
  const parameters = Buffer.alloc(TC_HTB_OPT);
  writeRateSpec(parameters.subarray(0, TC_RATESPEC), rate);
  writeRateSpec(parameters.subarray(TC_RATESPEC, 2 * TC_RATESPEC), ceil);
  parameters.writeUInt32LE(ticksOf(burst, rate), 24);
  parameters.writeUInt32LE(ticksOf(ceilBurst, ceil), 28);
  parameters.writeUInt32LE(priority, 40);
  return parameters;
}

const LARGE_PACKET = 1600;
const defaultBurst = (rate: number): number => Math.floor(rate / 8000) + LARGE_PACKET;

/** Decodes an RTM_NEWTCLASS message. @throws DecodeError */
export function decodeClass(message: NetlinkMessage): TrafficClass {
  const { link, handle, parent, attributes } = readTcMessage(message);
  const kind = attributes.text(tc.TCA_KIND) ?? '';
  const settings = kind === 'htb' ? readParameters(attributes.nested(tc.TCA_OPTIONS)) : undefined;
  const options = settings === undefined ? attributes.bytes(tc.TCA_OPTIONS) : undefined;
  const statistics = readQueueStatistics(attributes);
  return compact({ link, handle, parent, kind, settings, options, statistics });
}

function readParameters(options: Attributes | undefined): Required<HtbClassSettings> | undefined {
  const parameters = options?.bytes(TCA_HTB_PARMS);
  if (parameters === undefined) return undefined;
  if (parameters.length < TC_HTB_OPT) throw new DecodeError(`tc_htb_opt of ${parameters.length} bytes`);
  const rate = options?.u64(TCA_HTB_RATE64) ?? BigInt(parameters.readUInt32LE(8));
  const ceil = options?.u64(TCA_HTB_CEIL64) ?? BigInt(parameters.readUInt32LE(TC_RATESPEC + 8));
  return {
    rate: Number(rate * 8n),
    ceil: Number(ceil * 8n),
    burst: bytesIn(parameters.readUInt32LE(24), rate),
    ceilBurst: bytesIn(parameters.readUInt32LE(28), ceil),
    priority: parameters.readUInt32LE(40),
  };
}

/** The classes of one link; none if it is gone. */
export function listClasses(connection: NetlinkConnection, filter: { link: number }): TrafficClass[] {
  const payload = writeTcHeader({ link: filter.link, handle: 0, parent: 0, info: 0 }).finish();
  const request = { type: tc.RTM_GETTCLASS, flags: 0, payload, label: 'list classes' };
  return dumpUnless(connection, request, ['ENODEV']).map(decodeClass);
}
