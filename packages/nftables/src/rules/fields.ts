/** Where each field of a packet is found, and what its values look like. */
import { encodeValues, type PlainType, type Value } from '../values.js';
import { ctKeys, type ExpressionWriter, fibFlags, metaKeys, payloadBases } from './expressions.js';
import type { Field, FieldValue } from './statement.js';

export interface FieldAccess {
  /** Bytes. */
  readonly length: number;
  readonly load: (expressions: ExpressionWriter, register?: number) => void;
  /** Where the field is part of a header: how to load its first bytes alone. */
  readonly loadFirst?: (expressions: ExpressionWriter, bytes: number) => void;
  /** @throws RangeError */
  readonly encode: (value: FieldValue) => Uint8Array;
  /** Compared as a number of the network's byte order, so that it has ranges. */
  readonly ordered?: true;
  /** Conditions on a packet for the field to be there. */
  readonly needs?: { readonly nfproto?: 'ipv4' | 'ipv6'; readonly l4proto?: number };
  /** The field can be compared by its first bits, or with a `*` at its end. */
  readonly prefix?: 'address' | 'name';
}

const nfprotos: Readonly<Record<string, number>> = { ipv4: 2, ipv6: 10 };
/** RTN_* (include/uapi/linux/rtnetlink.h). */
const addressTypes: Readonly<Record<string, number>> = {
  ...{ unicast: 1, local: 2, broadcast: 3, anycast: 4, multicast: 5 },
  ...{ blackhole: 6, unreachable: 7, prohibit: 8 },
};

const plain =
  (type: PlainType): FieldAccess['encode'] =>
  (value) =>
    encodeValues([{ type, value } as Value]);

const byte =
  (names: Readonly<Record<string, number>> = {}): FieldAccess['encode'] =>
  (value) => {
    const number = typeof value === 'string' ? names[value] : value;
    if (number === undefined || !Number.isInteger(number) || number < 0 || number > 255)
      throw new RangeError(`no value of one byte: ${JSON.stringify(value)}`);
    return Buffer.from([number]);
  };

function addressType(value: FieldValue): Uint8Array {
  const number = typeof value === 'string' ? addressTypes[value] : value;
  if (number === undefined) throw new RangeError(`no type of addresses: ${JSON.stringify(value)}`);
  return plain('mark')(number);
}

const name = (key: number): FieldAccess => ({
  length: 16,
  load: (to, register) => to.loadMeta(key, register),
  encode: plain('ifname'),
  prefix: 'name',
});

function address(family: 4 | 6, offset: number): FieldAccess {
  const length = family === 4 ? 4 : 16;
  return {
    length,
    load: (to, register) => to.loadPayload(payloadBases.network, offset, length, register),
    loadFirst: (to, bytes) => to.loadPayload(payloadBases.network, offset, bytes),
    encode: plain(family === 4 ? 'ipv4_addr' : 'ipv6_addr'),
    needs: { nfproto: family === 4 ? 'ipv4' : 'ipv6' },
    prefix: 'address',
  };
}

const port = (offset: number): FieldAccess => ({
  length: 2,
  load: (to, register) => to.loadPayload(payloadBases.transport, offset, 2, register),
  encode: plain('inet_service'),
  ordered: true,
});

const icmp = (offset: number, nfproto: 'ipv4' | 'ipv6', l4proto: number): FieldAccess => ({
  length: 1,
  load: (to, register) => to.loadPayload(payloadBases.transport, offset, 1, register),
  encode: byte(),
  ordered: true,
  needs: { nfproto, l4proto },
});

const fib = (flags: number): FieldAccess => ({
  length: 4,
  load: (to, register) => to.loadFib(flags, register),
  encode: addressType,
});

const ICMP = 1;
const ICMPV6 = 58;

export const fieldAccess: Readonly<Record<Field, FieldAccess>> = {
  iifname: name(metaKeys.iifname),
  oifname: name(metaKeys.oifname),
  nfproto: {
    length: 1,
    load: (to, register) => to.loadMeta(metaKeys.nfproto, register),
    encode: byte(nfprotos),
  },
  l4proto: {
    length: 1,
    load: (to, register) => to.loadMeta(metaKeys.l4proto, register),
    encode: plain('inet_proto'),
    ordered: true,
  },
  mark: {
    length: 4,
    load: (to, register) => to.loadMeta(metaKeys.mark, register),
    encode: plain('mark'),
  },
  'ip saddr': address(4, 12),
  'ip daddr': address(4, 16),
  'ip6 saddr': address(6, 8),
  'ip6 daddr': address(6, 24),
  'th sport': port(0),
  'th dport': port(2),
  'icmp type': icmp(0, 'ipv4', ICMP),
  'icmp code': icmp(1, 'ipv4', ICMP),
  'icmpv6 type': icmp(0, 'ipv6', ICMPV6),
  'icmpv6 code': icmp(1, 'ipv6', ICMPV6),
  'ct mark': {
    length: 4,
    load: (to, register) => to.loadCt(ctKeys.mark, register),
    encode: plain('mark'),
  },
  'fib daddr type': fib(fibFlags.destination),
  'fib saddr type': fib(fibFlags.source),
};
