/**
 * Addresses, routes and rules of one link, written again for another one. They are the kernel's own messages with another link
 * in them, as `ip route save` and `ip route restore` have it: what this library does not know is carried along.
 */
import { addressFlagBits, decodeAddress, IFA_FLAGS, IFA_LABEL, IFADDRMSG, RTM_NEWADDR } from './address.js';
import { Attributes, cText, eachAttribute, readStructure } from './attributes.js';
import type { NetlinkMessage, NetlinkRequest } from './connection.js';
import { AF_INET6 } from './ip-address.js';
import { PayloadWriter } from './payload.js';
import { align, NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';
import * as rt from './route-attributes.js';
import { decodeRoute } from './route-decoder.js';
import {
  FIB_RULE_HDR,
  FIB_RULE_INVERT,
  FRA_IIFNAME,
  FRA_OIFNAME,
  FRA_PRIORITY,
  RTM_DELRULE,
  RTM_NEWRULE,
} from './rule.js';

/** A link by both of its names. */
export interface LinkName {
  readonly index: number;
  readonly name: string;
}

/** Between which links. Both may be the same one. */
export interface Transfer {
  /** The link that the message is about. */
  readonly from: LinkName;
  readonly to: LinkName;
}

const { noDad, tentative, dadFailed, optimistic } = addressFlagBits;

/**
 * Puts the address onto another link, with what is left of its lifetimes, or changes it there. One of IPv6 that is in use
 * is not checked for duplicates again: it would be of no use for a second. (A second request takes the flag away by
 * which that is done.)
 */
export function repeatAddressRequests(message: NetlinkMessage, transfer: Transfer): NetlinkRequest[] {
  const bytes = readStructure(message.payload, IFADDRMSG, 'ifaddrmsg');
  const flags = new Attributes(bytes, IFADDRMSG).u32(IFA_FLAGS) ?? bytes[2]!;
  const write = (written: number): NetlinkRequest => ({
    ...{ type: RTM_NEWADDR, flags: NLM_F_CREATE | NLM_F_REPLACE },
    payload: writeAddress(bytes, written, transfer),
    label: `put address ${decodeAddress(message)?.address ?? ''} onto ${transfer.to.name}`,
  });
  const isChecked = (flags & (noDad | tentative | dadFailed | optimistic)) === 0;
  return bytes[0] === AF_INET6 && isChecked ? [write(flags | noDad), write(flags)] : [write(flags)];
}

function writeAddress(bytes: Buffer, flags: number, { from, to }: Transfer): Buffer {
  const writer = new PayloadWriter(IFADDRMSG);
  const header = writer.at(0, IFADDRMSG);
  header.set(bytes.subarray(0, IFADDRMSG));
  header.writeUInt32LE(to.index, 4);
  for (const { type, value } of eachAttribute(bytes, IFADDRMSG)) {
    if (type === IFA_FLAGS) continue;
    const label = type === IFA_LABEL ? relabel(cText(value), from.name, to.name) : undefined;
    if (type !== IFA_LABEL) writer.bytes(type, value);
    else if (label !== undefined) writer.text(type, label);
  }
  return writer.u32(IFA_FLAGS, flags).finish();
}

/** Bytes of a label without its closing NUL. */
const LABEL_BYTES = 15;

/** `eth1` and `eth1:1` follow the link; one that would be too long is left to the kernel, which takes the name of the link. */
function relabel(label: string, from: string, to: string): string | undefined {
  const follows = label === from || label.startsWith(`${from}:`);
  const moved = follows ? `${to}${label.slice(from.length)}` : label;
  return Buffer.byteLength(moved) > LABEL_BYTES ? undefined : moved;
}

/**
 * Adds the route by another link, beside the one that there is: both lead to the same place, and packets find a way at all times.
 * EEXIST when there is this very one. Of several next hops, only those by the first link are of another link then.
 */
export const repeatRouteRequest = (message: NetlinkMessage, transfer: Transfer): NetlinkRequest => ({
  ...{ type: rt.RTM_NEWROUTE, flags: NLM_F_CREATE | NLM_F_APPEND },
  payload: writeRoute(message, transfer),
  label: `lead route ${destinationOf(message)} through ${transfer.to.name}`,
});

/** Deletes the route by the second link. ESRCH when there is none. */
export const withdrawRouteRequest = (message: NetlinkMessage, transfer: Transfer): NetlinkRequest => ({
  ...{ type: rt.RTM_DELROUTE, flags: 0 },
  payload: writeRoute(message, transfer),
  label: `delete route ${destinationOf(message)} through ${transfer.to.name}`,
});

const destinationOf = (message: NetlinkMessage): string => decodeRoute(message)?.destination ?? '';

function writeRoute({ payload }: NetlinkMessage, transfer: Transfer): Buffer {
  const bytes = readStructure(payload, rt.RTMSG, 'rtmsg');
  const isIpv6 = bytes[0] === AF_INET6;
  const writer = new PayloadWriter(rt.RTMSG);
  const header = writer.at(0, rt.RTMSG);
  header.set(bytes.subarray(0, rt.RTMSG));
  // The others are states that the kernel shows, and refuses to be told.
  header.writeUInt32LE(bytes.readUInt32LE(8) & rt.RTNH_F_ONLINK, 8);
  for (const { type, value } of eachAttribute(bytes, rt.RTMSG)) {
    if (type === rt.RTA_CACHEINFO) writeExpiry(writer, value, isIpv6);
    else if (type === rt.RTA_OIF) writer.u32(type, transferIndex(value.readUInt32LE(0), transfer));
    else if (type === rt.RTA_MULTIPATH) writer.bytes(type, writeHops(value, isIpv6, transfer));
    else writer.bytes(type, value);
  }
  return writer.finish();
}

const transferIndex = (index: number, { from, to }: Transfer): number =>
  index === from.index ? to.index : index;

/** Offset of `rta_expires` in struct rta_cacheinfo, and its unit (USER_HZ). */
const EXPIRES = { offset: 8, perSecond: 100 };

/** The kernel shows the rest of a route's life in one attribute and takes it in another, for IPv6 alone. */
function writeExpiry(writer: PayloadWriter, cacheInfo: Buffer, isIpv6: boolean): void {
  const left = cacheInfo.length < EXPIRES.offset + 4 ? 0 : cacheInfo.readInt32LE(EXPIRES.offset);
  if (isIpv6 && left > 0) writer.u32(rt.RTA_EXPIRES, Math.ceil(left / EXPIRES.perSecond));
}

/** struct rtnexthop: length (u16), flags, hops (u8 each), index of the link (s32 at 4), attributes. */
const RTNEXTHOP = 8;

/** IPv6 has a route for each next hop, and shows them as one: those by other links stay where they are. */
function writeHops(bytes: Buffer, isIpv6: boolean, transfer: Transfer): Buffer {
  const hops: Buffer[] = [];
  for (let at = 0; at + RTNEXTHOP <= bytes.length;) {
    const length = bytes.readUInt16LE(at);
    const hop = Buffer.from(bytes.subarray(at, at + align(length)));
    const link = hop.readInt32LE(4);
    hop[2] = hop[2]! & rt.RTNH_F_ONLINK;
    hop.writeInt32LE(transferIndex(link, transfer), 4);
    if (!isIpv6 || link === transfer.from.index) hops.push(hop);
    at += align(length);
  }
  return Buffer.concat(hops);
}

/** Adds the rule for packets of another link. EEXIST when there is this very one. */
export const repeatRuleRequest = (message: NetlinkMessage, transfer: Transfer): NetlinkRequest => ({
  ...{ type: RTM_NEWRULE, flags: NLM_F_CREATE | NLM_F_EXCL },
  payload: writeRule(message, transfer),
  label: `put a rule of ${transfer.from.name} onto ${transfer.to.name}`,
});

/** Deletes the rule of the second link. ENOENT when there is none. */
export const withdrawRuleRequest = (message: NetlinkMessage, transfer: Transfer): NetlinkRequest => ({
  ...{ type: RTM_DELRULE, flags: 0 },
  payload: writeRule(message, transfer),
  label: `delete a rule of ${transfer.to.name}`,
});

function writeRule({ payload }: NetlinkMessage, { from, to }: Transfer): Buffer {
  const bytes = readStructure(payload, FIB_RULE_HDR, 'fib_rule_hdr');
  const writer = new PayloadWriter(FIB_RULE_HDR);
  const header = writer.at(0, FIB_RULE_HDR);
  header.set(bytes.subarray(0, FIB_RULE_HDR));
  header.writeUInt32LE(bytes.readUInt32LE(8) & FIB_RULE_INVERT, 8);
  // The kernel leaves 0 out, and would choose a priority by itself.
  if (!new Attributes(bytes, FIB_RULE_HDR).has(FRA_PRIORITY)) writer.u32(FRA_PRIORITY, 0);
  for (const { type, value } of eachAttribute(bytes, FIB_RULE_HDR)) {
    const isName = type === FRA_IIFNAME || type === FRA_OIFNAME;
    if (isName && cText(value) === from.name) writer.text(type, to.name);
    else writer.bytes(type, value);
  }
  return writer.finish();
}
