import { compact } from '@podwire/platform';
import { Attributes, cText, eachAttribute, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import {
  readGenerationMode,
  readInetSettings,
  type AddressGenerationMode,
  type InetSettings,
} from './link-inet.js';
import { AF_UNSPEC } from './ip-address.js';
import * as rt from './link-attributes.js';
import { type KindSettings, readKind } from './link-kinds.js';
import { type LinkStatistics, readStatistics } from './link-statistics.js';
import { checkLinkName } from './link-name.js';
import { decodeMac } from './mac.js';
import { PayloadWriter } from './payload.js';

/** RFC 2863's ifOperStatus, as the kernel keeps it. */
export type OperationalState =
  'unknown' | 'not-present' | 'down' | 'lower-layer-down' | 'testing' | 'dormant' | 'up';

const operationalStates: readonly OperationalState[] = [
  'unknown',
  'not-present',
  'down',
  'lower-layer-down',
  'testing',
  'dormant',
  'up',
];

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** Further names (`ip link property add altname`). */
  readonly alternativeNames: readonly string[];
  /** Administratively up. */
  readonly up: boolean;
  /** It is up and so is what it is connected to (IFF_LOWER_UP): a veth's other end, a cable. */
  readonly carrier: boolean;
  /** How often the carrier has come or gone, which a link that was taken down and up again in between shows as well. */
  readonly carrierChanges?: number;
  /** IFF_* as they are. */
  readonly flags: number;
  /** ARPHRD_*: 1 is Ethernet, 772 the loopback. */
  readonly hardwareType: number;
  /** Follows {@link carrier}, but some time later. */
  readonly operationalState?: OperationalState;
  readonly mac?: string;
  /** bytes */
  readonly mtu?: number;
  readonly group?: number;
  readonly transmitQueueLength?: number;
  /** Index of the bridge (or other master) it is enslaved to. */
  readonly master?: number;
  /** Index of the link underneath, or of a veth's other end; it lies in {@link parentNamespace} if that is given. */
  readonly parent?: number;
  /** Id of the namespace that `parent` is an index in (`ip netns list-id`). */
  readonly parentNamespace?: number;
  readonly alias?: string;
  /** Name of the root qdisc. */
  readonly qdisc?: string;
  /** `veth`, `bridge`, …; absent for hardware and the loopback. */
  readonly kind?: string;
  /** The settings of a kind this library knows. */
  readonly settings?: KindSettings;
  /** How the IPv6 link-local address comes about. */
  readonly addressGenerationMode?: AddressGenerationMode;
  readonly statistics?: LinkStatistics;
  /** `net/ipv4/conf/NAME`, where they were asked for. */
  readonly inetSettings?: InetSettings;
}

/** Decodes an RTM_NEWLINK (or RTM_DELLINK) message. @throws DecodeError */
export const decodeLink = (message: NetlinkMessage): Link => decodeLinkInDetail(message, {});

export function decodeLinkInDetail(message: NetlinkMessage, detail: LinkDetail): Link {
  const bytes = readStructure(message.payload, rt.IFINFOMSG, 'ifinfomsg');
  const attributes = new Attributes(bytes, rt.IFINFOMSG);
  const flags = bytes.readUInt32LE(8);
  const families = readFamilies(bytes, attributes);
  return compact({
    index: bytes.readInt32LE(4),
    name: attributes.text(rt.IFLA_IFNAME) ?? '',
    alternativeNames: readAlternativeNames(attributes),
    up: (flags & rt.IFF_UP) !== 0,
    carrier: (flags & rt.IFF_LOWER_UP) !== 0,
    flags,
    hardwareType: bytes.readUInt16LE(2),
    ...readCommon(attributes),
    ...readLinkInfo(attributes.nested(rt.IFLA_LINKINFO)),
    addressGenerationMode: readGenerationMode(families),
    statistics: readStatistics(attributes.bytes(rt.IFLA_STATS64)),
    inetSettings: detail.inetSettings === true ? readInetSettings(families) : undefined,
  });
}

function readCommon(attributes: Attributes) {
  const mac = attributes.bytes(rt.IFLA_ADDRESS);
  return {
    operationalState: operationalStates[attributes.u8(rt.IFLA_OPERSTATE) ?? -1],
    mac: mac === undefined ? undefined : decodeMac(mac),
    mtu: attributes.u32(rt.IFLA_MTU),
    group: attributes.u32(rt.IFLA_GROUP),
    transmitQueueLength: attributes.u32(rt.IFLA_TXQLEN),
    master: attributes.u32(rt.IFLA_MASTER),
    parent: attributes.u32(rt.IFLA_LINK),
    parentNamespace: attributes.i32(rt.IFLA_LINK_NETNSID),
    carrierChanges: attributes.u32(rt.IFLA_CARRIER_CHANGES),
    alias: attributes.text(rt.IFLA_IFALIAS),
    qdisc: attributes.text(rt.IFLA_QDISC),
  };
}

function readAlternativeNames(attributes: Attributes): string[] {
  const list = attributes.bytes(rt.IFLA_PROP_LIST);
  if (list === undefined) return [];
  const names = [...eachAttribute(list)].filter(({ type }) => type === rt.IFLA_ALT_IFNAME);
  return names.map(({ value }) => cText(value));
}

function readLinkInfo(info: Attributes | undefined): Pick<Link, 'kind' | 'settings'> {
  const kind = info?.text(rt.IFLA_INFO_KIND);
  if (kind === undefined) return {};
  return compact({ kind, settings: readKind(kind, () => info?.nested(rt.IFLA_INFO_DATA)) });
}

/** The per-device IPv4 parameters (net/ipv4/conf/NAME) in a link message, by name. @throws DecodeError */
export function decodeInetSettings(message: NetlinkMessage): InetSettings {
  const bytes = readStructure(message.payload, rt.IFINFOMSG, 'ifinfomsg');
  return readInetSettings(readFamilies(bytes, new Attributes(bytes, rt.IFINFOMSG)));
}

/** IFLA_AF_SPEC is by family only in messages of no family; a bridge's own say something else there. */
function readFamilies(header: Buffer, attributes: Attributes): Attributes | undefined {
  return header[0] === AF_UNSPEC ? attributes.nested(rt.IFLA_AF_SPEC) : undefined;
}

/** A link by index or by name. */
export type LinkReference = number | string;

/** Starts a link message: struct ifinfomsg, then the name if the link is meant by name. */
export function writeLinkHeader(reference: LinkReference | undefined): PayloadWriter {
  const writer = new PayloadWriter(rt.IFINFOMSG);
  if (typeof reference === 'number') writer.at(0, rt.IFINFOMSG).writeInt32LE(reference, 4);
  if (typeof reference === 'string') writer.text(rt.IFLA_IFNAME, checkLinkName(reference));
  return writer;
}

export interface LinkDetail {
  /** Also read the counters, which are half of the answer's bytes. */
  readonly statistics?: boolean;
  /** Also decode the per-device IPv4 parameters, which spares a file below /proc/sys for each. */
  readonly inetSettings?: boolean;
}

/** Asks for one link; the reply decodes with {@link decodeLink}. The kernel answers ENODEV when there is none. */
export function getLinkRequest(reference: LinkReference, detail: LinkDetail = {}): NetlinkRequest {
  const writer = writeDetail(writeLinkHeader(reference), detail);
  return { type: rt.RTM_GETLINK, flags: 0, payload: writer.finish(), label: `get link ${reference}` };
}

/** Counters are only in the answer when they are wanted. */
function writeDetail(writer: PayloadWriter, detail: LinkDetail): PayloadWriter {
  return detail.statistics === true ? writer : writer.u32(rt.IFLA_EXT_MASK, rt.RTEXT_FILTER_SKIP_STATS);
}

export interface LinkFilter extends LinkDetail {
  readonly kind?: string;
  /** Index of the master. */
  readonly master?: number;
  readonly group?: number;
}

/**
 * The links of the namespace. The kernel filters by kind and master itself, by group it cannot.
 * @throws NetlinkBatchError, NetlinkError, DecodeError
 */
export function listLinks(connection: NetlinkConnection, filter: LinkFilter = {}): Link[] {
  const writer = writeDetail(writeLinkHeader(undefined), filter);
  const { kind, master, group } = filter;
  if (master !== undefined) writer.u32(rt.IFLA_MASTER, master);
  if (kind !== undefined) writer.nest(rt.IFLA_LINKINFO, () => writer.text(rt.IFLA_INFO_KIND, kind));
  const messages = connection.dump({
    type: rt.RTM_GETLINK,
    flags: 0,
    payload: writer.finish(),
    label: 'list links',
  });
  return messages
    .map((message) => decodeLinkInDetail(message, filter))
    .filter((link) => kind === undefined || link.kind === kind)
    .filter((link) => master === undefined || link.master === master)
    .filter((link) => group === undefined || link.group === group);
}
