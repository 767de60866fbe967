import { addressFromBytes, addressToBytes, formatAddress, parseAddress } from '@podwire/addresses';
import { DecodeError } from '@podwire/netlink';

/** One typed component of an element's key or data. */
export type Value =
  | { readonly type: 'ipv4_addr' | 'ipv6_addr'; readonly value: string }
  /** The key of a set with `flags interval`: `10.0.0.0/16`, `10.0.0.1-10.0.0.9`. It stands alone. */
  | { readonly type: IntervalType; readonly value: string }
  | { readonly type: 'inet_service'; readonly value: number }
  /** A name of `protocols`, or the number (0–255) of any other protocol. */
  | { readonly type: 'inet_proto'; readonly value: string | number }
  /** At most 15 bytes, as interface names are. */
  | { readonly type: 'ifname'; readonly value: string }
  /** A packet mark, 32 bits. */
  | { readonly type: 'mark'; readonly value: number };

export type ValueType = Value['type'];
export type IntervalType = 'ipv4_interval' | 'ipv6_interval';
/** Types that a set can be declared with. */
export type PlainType = Exclude<ValueType, IntervalType>;

/** IANA protocol numbers that have a name here. */
export const protocols = {
  icmp: 1,
  tcp: 6,
  udp: 17,
  dccp: 33,
  gre: 47,
  esp: 50,
  ah: 51,
  'ipv6-icmp': 58,
  sctp: 132,
  udplite: 136,
} as const;

const protocolNames = new Map<number, string>(
  Object.entries(protocols).map(([name, number]) => [number, name]),
);

interface TypeCodec {
  /** The number that nft stores with a set (enum datatypes of nftables); the kernel only keeps it. */
  readonly id: number;
  readonly length: number;
  encode(value: Value): Uint8Array;
  decode(bytes: Buffer): Value;
}

const IFNAMSIZ = 16;

const address = (type: 'ipv4_addr' | 'ipv6_addr', id: number, length: number): TypeCodec => ({
  id,
  length,
  encode: ({ value }) => {
    const bytes = addressToBytes(parseAddress(String(value)));
    if (bytes.length !== length) throw new RangeError(`not an ${type}: ${value}`);
    return bytes;
  },
  decode: (bytes) => ({ type, value: formatAddress(addressFromBytes(bytes)) }),
});

const codecs: Record<PlainType, TypeCodec> = {
  ipv4_addr: address('ipv4_addr', 7, 4),
  ipv6_addr: address('ipv6_addr', 8, 16),
  inet_proto: {
    id: 12,
    length: 1,
    encode: ({ value }) => unsigned(1, 'inet_proto', protocolNumber(value)),
    decode: (bytes) => ({ type: 'inet_proto', value: protocolNames.get(bytes[0]!) ?? bytes[0]! }),
  },
  inet_service: {
    id: 13,
    length: 2,
    encode: ({ value }) => unsigned(2, 'inet_service', value),
    decode: (bytes) => ({ type: 'inet_service', value: bytes.readUInt16BE() }),
  },
  // Marks are compared as the packet's field stands in memory, hence in host order: little-endian.
  mark: {
    id: 19,
    length: 4,
    encode: ({ value }) => unsigned(4, 'mark', value).reverse(),
    decode: (bytes) => ({ type: 'mark', value: bytes.readUInt32LE() }),
  },
  ifname: {
    id: 41,
    length: IFNAMSIZ,
    encode: ({ value }) => interfaceName(String(value)),
    decode: (bytes) => ({ type: 'ifname', value: bytes.toString('utf8').replace(/\0.*$/s, '') }),
  },
};

const typesById = new Map(Object.entries(codecs).map(([type, codec]) => [codec.id, type as PlainType]));

function protocolNumber(value: string | number): string | number {
  return typeof value === 'string' && Object.hasOwn(protocols, value)
    ? protocols[value as keyof typeof protocols]
    : value;
}

function unsigned(length: 1 | 2 | 4, type: ValueType, value: string | number): Buffer {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= 2 ** (8 * length)) {
    throw new RangeError(`not an ${type}: ${JSON.stringify(value)}`);
  }
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
}

function interfaceName(name: string): Buffer {
  const bytes = Buffer.alloc(IFNAMSIZ);
  const length = Buffer.byteLength(name);
  if (length === 0 || length >= IFNAMSIZ || name.includes('\0')) {
    throw new RangeError(`not an interface name: ${JSON.stringify(name)}`);
  }
  bytes.write(name);
  return bytes;
}

const align = (length: number): number => (length + 3) & ~3;

/**
 * The bytes of a key or of data as the kernel compares them: one value as it is, several one after the other, each
 * padded to four bytes, because that is how a rule loads them into registers.
 * @throws RangeError naming the value that does not fit its type.
 */
export function encodeValues(values: readonly Value[]): Uint8Array {
  const parts = values.map((value) => codecOf(value.type).encode(value));
  if (parts.length === 1) return parts[0]!;
  if (parts.length === 0) throw new RangeError('a key or data without any value');
  const bytes = Buffer.alloc(parts.reduce((sum, part) => sum + align(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += align(part.length);
  }
  return bytes;
}

function codecOf(type: ValueType): TypeCodec {
  if (Object.hasOwn(codecs, type)) return codecs[type as PlainType];
  const why =
    type === 'ipv4_interval' || type === 'ipv6_interval' ? 'only a whole key can be an' : 'unknown type';
  throw new RangeError(`${why} ${JSON.stringify(type)}`);
}

/** How many bytes a key or data of these types has. */
export function lengthOfTypes(types: readonly PlainType[]): number {
  if (types.length === 1) return codecs[types[0]!].length;
  return types.reduce((sum, type) => sum + align(codecs[type].length), 0);
}

/** @throws DecodeError when `bytes` has another length than the types take. */
export function decodeValues(types: readonly PlainType[], bytes: Buffer): Value[] {
  const expected = lengthOfTypes(types);
  if (bytes.length !== expected)
    throw new DecodeError(`${types.join(' . ')}: ${bytes.length} of ${expected} bytes`);
  let at = 0;
  return types.map((type) => {
    const codec = codecs[type];
    const value = codec.decode(bytes.subarray(at, at + codec.length));
    at += align(codec.length);
    return value;
  });
}

const TYPE_BITS = 6;
const TYPE_MASK = (1 << TYPE_BITS) - 1;

/**
 * The types behind the number that nft stores for a key or for data: six bits for each component, the last one
 * lowest. `undefined` when a type is among them that this library does not know.
 */
export function typesOfNumber(number: number): PlainType[] | undefined {
  const types: PlainType[] = [];
  for (let rest = number >>> 0; rest > 0; rest >>>= TYPE_BITS) {
    const type = typesById.get(rest & TYPE_MASK);
    if (type === undefined) return undefined;
    types.unshift(type);
  }
  return types.length > 0 ? types : undefined;
}

/** As nft stores them, see {@link typesOfNumber}. */
export function numberOfTypes(types: readonly PlainType[]): number {
  return types.reduce((number, type) => ((number << TYPE_BITS) | codecs[type].id) >>> 0, 0);
}

/** The types that a declaration names, as in `type inet_proto . inet_service`. */
export function parseTypes(text: string): PlainType[] | undefined {
  const names = text.trim().split(/\s*\.\s*/);
  return names.every((name): name is PlainType => Object.hasOwn(codecs, name)) ? names : undefined;
}

/** In nft's own words: `tcp . 8080`, `"cali0123"`. */
export function formatValues(values: readonly Value[]): string {
  return values.map(formatValue).join(' . ');
}

function formatValue(value: Value): string {
  if (value.type === 'ifname') return JSON.stringify(value.value);
  if (value.type === 'mark') return `0x${value.value.toString(16).padStart(8, '0')}`;
  return String(value.value);
}
