/** Attributes of each kind of link: the content of IFLA_INFO_DATA, both ways. */
import { compact } from '@podwire/platform';
import type { Attributes } from './attributes.js';
import { decodeIp, encodeIp } from './ip-address.js';
import type { PayloadWriter } from './payload.js';

/** ip-link(8), `type bridge`. Times are in seconds. */
export interface BridgeSettings {
  readonly kind: 'bridge';
  readonly stp?: boolean;
  readonly vlanFiltering?: boolean;
  readonly ageingTime?: number;
  readonly forwardDelay?: number;
  readonly multicastSnooping?: boolean;
}

/** ip-link(8), `type vxlan`. */
export interface VxlanSettings {
  readonly kind: 'vxlan';
  /** VXLAN network identifier, 24 bits. */
  readonly id: number;
  /** UDP destination port; 4789 is IANA's, the kernel's own default is 8472. */
  readonly port?: number;
  readonly local?: string;
  /** Default destination: a peer's address or a multicast group. */
  readonly remote?: string;
  readonly learning?: boolean;
  /** Index of the link that carries the tunnel. */
  readonly underlay?: number;
  readonly ttl?: number;
  /** Compute checksums of the outer UDP header over IPv4. */
  readonly checksum?: boolean;
}

export type MacvlanMode = 'private' | 'vepa' | 'bridge' | 'passthru' | 'source';

/** ip-link(8), `type macvlan`. The link it sits on is the link's `parent`. */
export interface MacvlanSettings {
  readonly kind: 'macvlan';
  readonly mode: MacvlanMode;
}

/** Kinds without settings. */
export type PlainKind = { readonly kind: 'ifb' } | { readonly kind: 'dummy' };

export type KindSettings = BridgeSettings | VxlanSettings | MacvlanSettings;

const IFLA_BR_FORWARD_DELAY = 1;
const IFLA_BR_AGEING_TIME = 4;
const IFLA_BR_STP_STATE = 5;
const IFLA_BR_VLAN_FILTERING = 7;
const IFLA_BR_MCAST_SNOOPING = 23;

/** The kernel counts bridge times in USER_HZ. */
const TICKS_PER_SECOND = 100;

const IFLA_VXLAN_ID = 1;
const IFLA_VXLAN_GROUP = 2;
const IFLA_VXLAN_LINK = 3;
const IFLA_VXLAN_LOCAL = 4;
const IFLA_VXLAN_TTL = 5;
const IFLA_VXLAN_LEARNING = 7;
const IFLA_VXLAN_PORT = 15;
const IFLA_VXLAN_GROUP6 = 16;
const IFLA_VXLAN_LOCAL6 = 17;
const IFLA_VXLAN_UDP_CSUM = 18;

const IFLA_MACVLAN_MODE = 1;
const macvlanModes: Record<MacvlanMode, number> = { private: 1, vepa: 2, bridge: 4, passthru: 8, source: 16 };

export function writeKind(writer: PayloadWriter, settings: KindSettings | PlainKind): void {
  switch (settings.kind) {
    case 'bridge':
      return writeBridge(writer, settings);
    case 'vxlan':
      return writeVxlan(writer, settings);
    case 'macvlan':
      writer.u32(IFLA_MACVLAN_MODE, macvlanModes[settings.mode]);
      return;
    case 'ifb':
    case 'dummy':
  }
}

/**
 * The settings of a kind this library knows; `undefined` for the others, whose data is not looked at, and for what
 * lacks its main attribute.
 */
export function readKind(kind: string, data: () => Attributes | undefined): KindSettings | undefined {
  const read = readers.get(kind);
  const attributes = read === undefined ? undefined : data();
  return attributes === undefined ? undefined : read?.(attributes);
}

function writeBridge(writer: PayloadWriter, bridge: BridgeSettings): void {
  const { stp, vlanFiltering, ageingTime, forwardDelay, multicastSnooping } = bridge;
  if (stp !== undefined) writer.u32(IFLA_BR_STP_STATE, Number(stp));
  if (vlanFiltering !== undefined) writer.u8(IFLA_BR_VLAN_FILTERING, Number(vlanFiltering));
  if (ageingTime !== undefined) writer.u32(IFLA_BR_AGEING_TIME, Math.round(ageingTime * TICKS_PER_SECOND));
  if (forwardDelay !== undefined) {
    writer.u32(IFLA_BR_FORWARD_DELAY, Math.round(forwardDelay * TICKS_PER_SECOND));
  }
  if (multicastSnooping !== undefined) writer.u8(IFLA_BR_MCAST_SNOOPING, Number(multicastSnooping));
}

function readBridge(data: Attributes): BridgeSettings {
  return compact({
    kind: 'bridge' as const,
    stp: boolean(data.u32(IFLA_BR_STP_STATE)),
    vlanFiltering: boolean(data.u8(IFLA_BR_VLAN_FILTERING)),
    ageingTime: seconds(data.u32(IFLA_BR_AGEING_TIME)),
    forwardDelay: seconds(data.u32(IFLA_BR_FORWARD_DELAY)),
    multicastSnooping: boolean(data.u8(IFLA_BR_MCAST_SNOOPING)),
  });
}

function writeVxlan(writer: PayloadWriter, vxlan: VxlanSettings): void {
  const { id, port, local, remote, learning, underlay, ttl, checksum } = vxlan;
  if (!(id >= 0 && id <= 0xffffff)) throw new RangeError(`a VXLAN id of ${id}`);
  writer.u32(IFLA_VXLAN_ID, id);
  if (port !== undefined) writer.be16(IFLA_VXLAN_PORT, port);
  writeIp(writer, IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6, local);
  writeIp(writer, IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6, remote);
  if (learning !== undefined) writer.u8(IFLA_VXLAN_LEARNING, Number(learning));
  if (underlay !== undefined) writer.u32(IFLA_VXLAN_LINK, underlay);
  if (ttl !== undefined) writer.u8(IFLA_VXLAN_TTL, ttl);
  if (checksum !== undefined) writer.u8(IFLA_VXLAN_UDP_CSUM, Number(checksum));
}

function writeIp(writer: PayloadWriter, type4: number, type6: number, text: string | undefined): void {
  if (text === undefined) return;
  const bytes = encodeIp(text);
  writer.bytes(bytes.length === 4 ? type4 : type6, bytes);
}

function readVxlan(data: Attributes): VxlanSettings | undefined {
  const id = data.u32(IFLA_VXLAN_ID);
  if (id === undefined) return undefined;
  return compact({
    kind: 'vxlan' as const,
    id,
    port: data.be16(IFLA_VXLAN_PORT),
    local: readIp(data, IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6),
    remote: readIp(data, IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6),
    learning: boolean(data.u8(IFLA_VXLAN_LEARNING)),
    underlay: data.u32(IFLA_VXLAN_LINK),
    ttl: data.u8(IFLA_VXLAN_TTL),
    checksum: boolean(data.u8(IFLA_VXLAN_UDP_CSUM)),
  });
}

function readIp(data: Attributes, type4: number, type6: number): string | undefined {
  const bytes = data.bytes(type4) ?? data.bytes(type6);
  return bytes === undefined ? undefined : decodeIp(bytes);
}

function readMacvlan(data: Attributes): MacvlanSettings | undefined {
  const number = data.u32(IFLA_MACVLAN_MODE);
  const mode = (Object.keys(macvlanModes) as MacvlanMode[]).find((name) => macvlanModes[name] === number);
  return mode === undefined ? undefined : { kind: 'macvlan', mode };
}

const readers = new Map<string, (data: Attributes) => KindSettings | undefined>([
  ['bridge', readBridge],
  ['vxlan', readVxlan],
  ['macvlan', readMacvlan],
]);

const boolean = (value: number | undefined): boolean | undefined =>
  value === undefined ? undefined : value !== 0;

const seconds = (ticks: number | undefined): number | undefined =>
  ticks === undefined ? undefined : ticks / TICKS_PER_SECOND;
