import { compact } from '@podwire/platform';
import type { Attributes } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';
import { type QdiscSettings, readQdiscSettings, writeQdiscSettings } from './qdisc-settings.js';
import * as tc from './tc-attributes.js';
import { readTcMessage, writeTcHeader } from './tc-message.js';

/** Where a qdisc is. */
export interface QdiscPlace {
  /** Index of the link. */
  readonly link: number;
  /** Class or place it hangs on: {@link tc.TC_ROOT} when absent. The hooks have a place of their own. */
  readonly parent?: number;
}

export type NewQdisc = QdiscPlace &
  QdiscSettings & {
    /** Its name for classes and filters below; the kernel chooses one when absent. */
    readonly handle?: number;
  };

export interface QueueStatistics {
  readonly bytes: bigint;
  readonly packets: number;
  readonly dropped: number;
  readonly overlimits: number;
  /** bytes that wait */
  readonly backlog: number;
  /** packets that wait */
  readonly queueLength: number;
}

export interface Qdisc {
  readonly link: number;
  readonly handle: number;
  readonly parent: number;
  readonly kind: string;
  /** The settings of a kind this library knows. */
  readonly settings?: QdiscSettings;
  /** TCA_OPTIONS as it is, for the other kinds. */
  readonly options?: Uint8Array;
  readonly statistics?: QueueStatistics;
}

/** Adds a qdisc. EEXIST when there is one at this place (the kernel's default does not count). */
export function addQdiscRequest(qdisc: NewQdisc): NetlinkRequest {
  return newQdisc(qdisc, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

/** Puts a qdisc in the place of the one that is there, or changes it if it is of the same kind. */
export function replaceQdiscRequest(qdisc: NewQdisc): NetlinkRequest {
  return newQdisc(qdisc, NLM_F_CREATE | NLM_F_REPLACE, 'replace');
}

/** Deletes the qdisc at a place, with all below it. ENOENT or EINVAL when there is only the kernel's default. */
export function deleteQdiscRequest(place: QdiscPlace): NetlinkRequest {
  const { link, parent = tc.TC_ROOT } = place;
  const payload = writeTcHeader({ link, handle: 0, parent, info: 0 }).finish();
  return { type: tc.RTM_DELQDISC, flags: 0, payload, label: `delete qdisc of link ${link}` };
}

function newQdisc(qdisc: NewQdisc, flags: number, verb: string): NetlinkRequest {
  const { link, kind } = qdisc;
  const hook = kind === 'ingress' || kind === 'clsact';
  const parent = hook ? tc.TC_INGRESS : (qdisc.parent ?? tc.TC_ROOT);
  const handle = hook ? tc.INGRESS_FILTERS : (qdisc.handle ?? 0);
  const writer = writeTcHeader({ link, handle, parent, info: 0 }).text(tc.TCA_KIND, kind);
  if (!hook) writer.nest(tc.TCA_OPTIONS, () => writeQdiscSettings(writer, qdisc));
  const label = `${verb} qdisc ${kind} to link ${link}`;
  return { type: tc.RTM_NEWQDISC, flags, payload: writer.finish(), label };
}

/** Decodes an RTM_NEWQDISC message. @throws DecodeError */
export function decodeQdisc(message: NetlinkMessage): Qdisc {
  const { link, handle, parent, attributes } = readTcMessage(message);
  const kind = attributes.text(tc.TCA_KIND) ?? '';
  const settings = readQdiscSettings(kind, () => attributes.nested(tc.TCA_OPTIONS));
  return compact({
    link,
    handle,
    parent,
    kind,
    settings,
    options: settings === undefined ? attributes.bytes(tc.TCA_OPTIONS) : undefined,
    statistics: readQueueStatistics(attributes),
  });
}

/** struct gnet_stats_basic (bytes u64, packets u32) and gnet_stats_queue (five u32). */
export function readQueueStatistics(attributes: Attributes): QueueStatistics | undefined {
  const statistics = attributes.nested(tc.TCA_STATS2);
  const basic = statistics?.bytes(tc.TCA_STATS_BASIC);
  const queue = statistics?.bytes(tc.TCA_STATS_QUEUE);
  if (basic === undefined || basic.length < 12 || queue === undefined || queue.length < 20) return undefined;
  return {
    bytes: basic.readBigUInt64LE(0),
    packets: basic.readUInt32LE(8),
    queueLength: queue.readUInt32LE(0),
    backlog: queue.readUInt32LE(4),
    dropped: queue.readUInt32LE(8),
    overlimits: queue.readUInt32LE(16),
  };
}

/**
 * Asks for the qdisc at a place; the reply decodes with {@link decodeQdisc}. ENOENT when there is none; no reply for
 * the kernel's default. Kernels before 6.6 send the reply only to listeners and to those who asked for an echo.
 */
export function getQdiscRequest(place: QdiscPlace): NetlinkRequest {
  const { link, parent = tc.TC_ROOT } = place;
  const payload = writeTcHeader({ link, handle: 0, parent, info: 0 }).finish();
  return { type: tc.RTM_GETQDISC, flags: NLM_F_ECHO, payload, label: `get qdisc of link ${link}` };
}

/** The qdiscs of the namespace (the kernel cannot filter them: to look at one link, see {@link getQdiscRequest}). */
export function listQdiscs(connection: NetlinkConnection, filter: { link?: number } = {}): Qdisc[] {
  const payload = writeTcHeader({ link: 0, handle: 0, parent: 0, info: 0 }).finish();
  return connection
    .dump({ type: tc.RTM_GETQDISC, flags: 0, payload, label: 'list qdiscs' })
    .map(decodeQdisc)
    .filter((qdisc) => filter.link === undefined || qdisc.link === filter.link);
}
