/** Link messages as the kernel reads and writes them. */
import { compact } from '@podwire/platform';
import { Attributes, readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { AF_INET, AF_INET6 } from '../ip-address.js';
import * as rt from '../link-attributes.js';
import {
  type AddressGenerationMode,
  generationModes,
  type InetSetting,
  inetSettingNames,
  readGenerationMode,
} from '../link-inet.js';
import { readKind, writeKind } from '../link-kinds.js';
import { decodeMac, encodeMac } from '../mac.js';
import { PayloadWriter } from '../payload.js';
import type { FakeLink } from './state.js';

/** Content of a link request. */
export type LinkRequest = ReturnType<typeof readLinkRequest>;

export function readLinkRequest(message: NetlinkMessage) {
  return readDescription(readStructure(message.payload, rt.IFINFOMSG, 'ifinfomsg'));
}

function readDescription(bytes: Buffer) {
  const attributes = new Attributes(bytes, rt.IFINFOMSG);
  const info = attributes.nested(rt.IFLA_LINKINFO);
  const kind = info?.text(rt.IFLA_INFO_KIND);
  return {
    ...readOwn(bytes, attributes),
    kind,
    settings: kind === undefined ? undefined : readKind(kind, () => info?.nested(rt.IFLA_INFO_DATA)),
    peer: kind === 'veth' ? readPeer(info?.nested(rt.IFLA_INFO_DATA)) : undefined,
    families: readFamilies(attributes.nested(rt.IFLA_AF_SPEC)),
  };
}

function readPeer(data: Attributes | undefined): ReturnType<typeof readOwn> | undefined {
  const bytes = data?.bytes(rt.VETH_INFO_PEER);
  if (bytes === undefined) return undefined;
  return readOwn(readStructure(bytes, rt.IFINFOMSG, 'ifinfomsg'), new Attributes(bytes, rt.IFINFOMSG));
}

/** Description of one link; a veth's two ends are described alike. */
export type LinkDescription = ReturnType<typeof readOwn>;

function readOwn(bytes: Buffer, attributes: Attributes) {
  const mac = attributes.bytes(rt.IFLA_ADDRESS);
  const changesUp = (bytes.readUInt32LE(12) & rt.IFF_UP) !== 0;
  return {
    index: bytes.readInt32LE(4) || undefined,
    up: changesUp ? (bytes.readUInt32LE(8) & rt.IFF_UP) !== 0 : undefined,
    name: attributes.text(rt.IFLA_IFNAME),
    mac: mac === undefined ? undefined : decodeMac(mac),
    mtu: attributes.u32(rt.IFLA_MTU),
    group: attributes.u32(rt.IFLA_GROUP),
    transmitQueueLength: attributes.u32(rt.IFLA_TXQLEN),
    master: attributes.u32(rt.IFLA_MASTER),
    parent: attributes.u32(rt.IFLA_LINK),
    alias: attributes.text(rt.IFLA_IFALIAS),
    namespace: attributes.u32(rt.IFLA_NET_NS_FD),
  };
}

interface Families {
  readonly mode: AddressGenerationMode | undefined;
  readonly inetSettings: Partial<Record<InetSetting, number>>;
}

/** In requests the IPv4 parameters are attributes, in answers an array. */
function readFamilies(families: Attributes | undefined): Families {
  const settings = families?.nested(AF_INET)?.nested(rt.IFLA_INET_CONF);
  const given = inetSettingNames.map((name, index) => [name, settings?.i32(index + 1)] as const);
  return {
    mode: readGenerationMode(families),
    inetSettings: Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}

/** The filter of a link dump. */
export function readLinkFilter(message: NetlinkMessage): {
  readonly kind?: string;
  readonly master?: number;
} {
  const attributes = new Attributes(readStructure(message.payload, rt.IFINFOMSG, 'ifinfomsg'), rt.IFINFOMSG);
  const kind = attributes.nested(rt.IFLA_LINKINFO)?.text(rt.IFLA_INFO_KIND);
  return compact({ kind, master: attributes.u32(rt.IFLA_MASTER) });
}

const ARPHRD_ETHER = 1;
const ARPHRD_LOOPBACK = 772;
const OPERSTATE = { unknown: 0, down: 2, lowerLayerDown: 3, up: 6 };

export function encodeLink(link: FakeLink): Buffer {
  const writer = new PayloadWriter(rt.IFINFOMSG);
  const header = writer.at(0, rt.IFINFOMSG);
  header.writeUInt16LE(link.name === 'lo' ? ARPHRD_LOOPBACK : ARPHRD_ETHER, 2);
  header.writeInt32LE(link.index, 4);
  header.writeUInt32LE(linkFlags(link), 8);
  writer
    .text(rt.IFLA_IFNAME, link.name)
    .u32(rt.IFLA_TXQLEN, link.transmitQueueLength)
    .u8(rt.IFLA_OPERSTATE, operationalState(link))
    .u32(rt.IFLA_MTU, link.mtu)
    .u32(rt.IFLA_GROUP, link.group)
    .bytes(rt.IFLA_ADDRESS, encodeMac(link.mac))
    .text(rt.IFLA_QDISC, rootQdisc(link));
  if (link.alias !== undefined) writer.text(rt.IFLA_IFALIAS, link.alias);
  if (link.master !== undefined) writer.u32(rt.IFLA_MASTER, link.master);
  writeParent(writer, link);
  writeKindOf(writer, link);
  writeFamilies(writer, link);
  return writer.finish();
}

/** The kernel tells its IPv4 parameters as one array, unlike the attributes by which it is told. */
function writeFamilies(writer: PayloadWriter, { addressGenerationMode, inetSettings }: FakeLink): void {
  const values = Buffer.alloc(4 * inetSettingNames.length);
  for (const [at, name] of inetSettingNames.entries()) values.writeInt32LE(inetSettings[name] ?? 0, 4 * at);
  writer.nest(rt.IFLA_AF_SPEC, () => {
    writer.nest(AF_INET, () => writer.bytes(rt.IFLA_INET_CONF, values));
    writer.nest(AF_INET6, () =>
      writer.u8(rt.IFLA_INET6_ADDR_GEN_MODE, generationModes.indexOf(addressGenerationMode)),
    );
  });
}

/** Both ends of a veth must be up for it to carry anything. */
export const isRunning = (link: FakeLink): boolean => link.up && (link.peer === undefined || link.peer.up);

const linkFlags = (link: FakeLink): number =>
  (link.up ? rt.IFF_UP : 0) | (isRunning(link) ? rt.IFF_RUNNING | rt.IFF_LOWER_UP : 0);

function operationalState(link: FakeLink): number {
  if (!link.up) return OPERSTATE.down;
  if (link.peer === undefined) return OPERSTATE.unknown;
  return isRunning(link) ? OPERSTATE.up : OPERSTATE.lowerLayerDown;
}

function rootQdisc(link: FakeLink): string {
  const root = link.namespace.qdiscs.find(
    (qdisc) => qdisc.link === link.index && qdisc.parent === 0xffffffff,
  );
  return root?.kind ?? (link.up ? 'noqueue' : 'noop');
}

function writeParent(writer: PayloadWriter, link: FakeLink): void {
  const parent = link.peer?.index ?? link.parent;
  if (parent !== undefined) writer.u32(rt.IFLA_LINK, parent);
  if (link.peer === undefined || link.peer.namespace === link.namespace) return;
  const { ids } = link.namespace;
  const id = ids.get(link.peer.namespace) ?? ids.size;
  ids.set(link.peer.namespace, id);
  writer.i32(rt.IFLA_LINK_NETNSID, id);
}

function writeKindOf(writer: PayloadWriter, { kind, settings }: FakeLink): void {
  if (kind === undefined) return;
  writer.nest(rt.IFLA_LINKINFO, () => {
    writer.text(rt.IFLA_INFO_KIND, kind);
    if (settings !== undefined) writer.nest(rt.IFLA_INFO_DATA, () => writeKind(writer, settings));
  });
}
