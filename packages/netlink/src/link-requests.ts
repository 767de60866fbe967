import type { NetlinkRequest } from './connection.js';
import { type LinkReference, writeLinkHeader } from './link.js';
import * as rt from './link-attributes.js';
import { type InetChanges, writeFamilies } from './link-inet.js';
import { type KindSettings, type PlainKind, writeKind } from './link-kinds.js';
import { checkLinkName } from './link-name.js';
import { encodeMac } from './mac.js';
import type { PayloadWriter } from './payload.js';
import { NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL } from './protocol.js';

/** Attributes that a link may be given when it is made. */
export interface LinkAttributes {
  readonly name?: string;
  /**
   * Ask for this index, which saves asking what index a new link got. For a peer it counts only if the link itself
   * asks for one too.
   */
  readonly index?: number;
  readonly mac?: string;
  /** bytes */
  readonly mtu?: number;
  readonly group?: number;
  readonly up?: boolean;
  readonly transmitQueueLength?: number;
  /** Each queue costs the kernel memory and time; a veth has one per processor unless told otherwise. */
  readonly transmitQueues?: number;
  readonly receiveQueues?: number;
  /** File descriptor of the network namespace in which it is born. */
  readonly namespace?: number;
}

export interface NewVeth extends LinkAttributes {
  readonly kind: 'veth';
  /** It is born down: the kernel connects the two ends only after it would have brought this one up. */
  readonly peer: Omit<LinkAttributes, 'up'>;
}

export type NewKindLink = LinkAttributes &
  (KindSettings | PlainKind) & {
    /** Index of the bridge it joins. */
    readonly master?: number;
    /** Index of the link it sits on (macvlan). */
    readonly parent?: number;
  };

export type NewLink = NewVeth | NewKindLink;

/**
 * Makes a link. EEXIST when the name or the index is taken, EBUSY when the index of a peer is.
 * With `echo` the reply is the new link (Linux 6.2 and newer; older kernels send no reply).
 */
export function createLinkRequest(link: NewLink, options: { echo?: boolean } = {}): NetlinkRequest {
  const writer = writeLinkHeader(undefined);
  writeAttributes(writer, link, 0);
  if (link.kind !== 'veth') writeRelations(writer, link);
  writer.nest(rt.IFLA_LINKINFO, () => writeLinkInfo(writer, link));
  const echo = options.echo === true ? NLM_F_ECHO : 0;
  return {
    type: rt.RTM_NEWLINK,
    flags: NLM_F_CREATE | NLM_F_EXCL | echo,
    payload: writer.finish(),
    label: `create link ${link.name ?? link.kind}`,
  };
}

function writeRelations(writer: PayloadWriter, link: { master?: number; parent?: number }): void {
  if (link.master !== undefined) writer.u32(rt.IFLA_MASTER, link.master);
  if (link.parent !== undefined) writer.u32(rt.IFLA_LINK, link.parent);
}

function writeLinkInfo(writer: PayloadWriter, link: NewLink): void {
  writer.text(rt.IFLA_INFO_KIND, link.kind);
  writer.nest(rt.IFLA_INFO_DATA, () => {
    if (link.kind === 'veth') writer.nest(rt.VETH_INFO_PEER, () => writePeer(writer, link.peer));
    else writeKind(writer, link);
  });
}

/** A veth's other end is described by a whole link message of its own. */
function writePeer(writer: PayloadWriter, peer: LinkAttributes): void {
  const start = writer.length;
  writer.structure(rt.IFINFOMSG);
  writeAttributes(writer, peer, start);
}

/** Fills the ifinfomsg at `header` and appends attributes. */
function writeAttributes(writer: PayloadWriter, link: LinkAttributes, header: number): void {
  const structure = writer.at(header, rt.IFINFOMSG);
  structure.writeInt32LE(link.index ?? 0, 4);
  writeUp(structure, link.up);
  if (link.name !== undefined) writer.text(rt.IFLA_IFNAME, checkLinkName(link.name));
  if (link.namespace !== undefined) writer.u32(rt.IFLA_NET_NS_FD, link.namespace);
  if (link.transmitQueues !== undefined) writer.u32(rt.IFLA_NUM_TX_QUEUES, link.transmitQueues);
  if (link.receiveQueues !== undefined) writer.u32(rt.IFLA_NUM_RX_QUEUES, link.receiveQueues);
  writeChangeable(writer, link);
}

function writeUp(header: Buffer, up: boolean | undefined): void {
  if (up === undefined) return;
  header.writeUInt32LE(up ? rt.IFF_UP : 0, 8);
  header.writeUInt32LE(rt.IFF_UP, 12);
}

function writeChangeable(writer: PayloadWriter, link: LinkAttributes): void {
  if (link.mac !== undefined) writer.bytes(rt.IFLA_ADDRESS, encodeMac(link.mac));
  if (link.mtu !== undefined) writer.u32(rt.IFLA_MTU, link.mtu);
  if (link.group !== undefined) writer.u32(rt.IFLA_GROUP, link.group);
  if (link.transmitQueueLength !== undefined) writer.u32(rt.IFLA_TXQLEN, link.transmitQueueLength);
}

export interface LinkChanges extends InetChanges {
  readonly up?: boolean;
  readonly mac?: string;
  /** bytes */
  readonly mtu?: number;
  readonly group?: number;
  readonly transmitQueueLength?: number;
  /** Index of the bridge to join; 0 leaves the one it is in. */
  readonly master?: number;
  readonly alias?: string;
  /** File descriptor of the network namespace to move to. The link arrives down, without addresses. */
  readonly namespace?: number;
}

/**
 * Changes a link. The kernel brings a link up before it looks at `addressGenerationMode`, so to keep a link without a
 * link-local address, set the mode in an earlier request than `up`. `inetSettings` are written as they are: unlike
 * the file below /proc/sys, `forwarding` set here does not switch off large receive offload.
 */
export function setLinkRequest(reference: LinkReference, changes: LinkChanges): NetlinkRequest {
  const writer = writeLinkHeader(reference);
  writeUp(writer.at(0, rt.IFINFOMSG), changes.up);
  if (changes.namespace !== undefined) writer.u32(rt.IFLA_NET_NS_FD, changes.namespace);
  if (changes.master !== undefined) writer.u32(rt.IFLA_MASTER, changes.master);
  if (changes.alias !== undefined) writer.text(rt.IFLA_IFALIAS, changes.alias);
  writeChangeable(writer, changes);
  writeFamilies(writer, changes);
  return { type: rt.RTM_SETLINK, flags: 0, payload: writer.finish(), label: `set link ${reference}` };
}

/** Gives a link another name. The kernel wants the index here, since a name in the message is the new one. */
export function renameLinkRequest(index: number, name: string): NetlinkRequest {
  const writer = writeLinkHeader(index).text(rt.IFLA_IFNAME, checkLinkName(name));
  return {
    type: rt.RTM_SETLINK,
    flags: 0,
    payload: writer.finish(),
    label: `rename link ${index} to ${name}`,
  };
}

/** Deletes a link, and with a veth its peer. ENODEV when there is none. Waits for a grace period: some 20 ms. */
export function deleteLinkRequest(reference: LinkReference): NetlinkRequest {
  const payload = writeLinkHeader(reference).finish();
  return { type: rt.RTM_DELLINK, flags: 0, payload, label: `delete link ${reference}` };
}

/**
 * Deletes every link of a group in one grace period. ENODEV when the group is empty, EPERM for group 0, which is
 * that of all links, and EOPNOTSUPP, with nothing deleted, when one of the links is hardware.
 */
export function deleteLinkGroupRequest(group: number): NetlinkRequest {
  const payload = writeLinkHeader(undefined).u32(rt.IFLA_GROUP, group).finish();
  return { type: rt.RTM_DELLINK, flags: 0, payload, label: `delete link group ${group}` };
}
