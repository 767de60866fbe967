import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addAddressRequest,
  addClassRequest,
  addFilterRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addQdiscRequest,
  addRouteRequest,
  addRuleRequest,
  Attributes,
  createLinkRequest,
  decodeAddress,
  decodeClass,
  decodeFilter,
  decodeForwardingEntry,
  decodeInetSettings,
  decodeLink,
  decodeNeighbour,
  decodeQdisc,
  DecodeError,
  decodeRoute,
  decodeRule,
  eachAttribute,
  NetlinkError,
  type NetlinkMessage,
  type NetlinkRequest,
  PayloadWriter,
  tcHandle,
} from '@podwire/netlink';
import { decodeAcknowledgement, decodeDone } from '../src/acknowledgement.js';
import { Conversation } from '../src/conversation.js';
import { readMessages } from '../src/datagram.js';
import { attribute, message, ScriptedPort } from './scripted-port.js';

type Decoder = (message: NetlinkMessage) => unknown;

const decoders: Record<string, Decoder> = {
  decodeLink,
  decodeInetSettings,
  decodeAddress,
  decodeRoute,
  decodeRule,
  decodeNeighbour,
  decodeForwardingEntry,
  decodeQdisc,
  decodeClass,
  decodeFilter,
};

/** Runs a decoder and lets nothing but its own error pass. */
function decodeSafely(decode: Decoder, payload: Uint8Array): unknown {
  try {
    return decode({ type: 16, flags: 0, payload });
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Requests of every kind: bytes that mean something, to be spoilt. */
const requests: readonly NetlinkRequest[] = [
  createLinkRequest({
    kind: 'veth',
    name: 'a',
    mac: '02:00:00:00:00:01',
    mtu: 1500,
    peer: { name: 'b', namespace: 3 },
  }),
  createLinkRequest({ kind: 'vxlan', name: 'v', id: 1, local: '2001:db8::1', port: 4789 }),
  createLinkRequest({ kind: 'bridge', name: 'b', ageingTime: 1, stp: true }),
  createLinkRequest({ kind: 'macvlan', name: 'm', parent: 1, mode: 'bridge' }),
  addAddressRequest({ link: 1, address: '10.0.0.1/24', peer: '10.0.0.2', flags: ['noDad'], label: 'x' }),
  addRouteRequest({
    destination: '10.0.0.0/8',
    gateway: 'fe80::1',
    link: 1,
    metric: 3,
    mtu: 1400,
    table: 500,
  }),
  addRouteRequest({
    destination: '::/0',
    nextHops: [
      { gateway: 'fe80::1', link: 1 },
      { link: 2, weight: 7 },
    ],
  }),
  addRuleRequest({ family: 6, priority: 1, from: '2001:db8::/32', mark: 1, inputLink: 'eth0' }),
  addNeighbourRequest({ link: 1, address: '10.0.0.1', mac: '02:00:00:00:00:01' }),
  addForwardingEntryRequest({
    link: 1,
    mac: '02:00:00:00:00:01',
    table: 'self',
    remote: '10.0.0.1',
    port: 1,
  }),
  addQdiscRequest({ link: 1, kind: 'tbf', rate: 1e11, burst: 1e6, limit: 1e6 }),
  addQdiscRequest({ link: 1, kind: 'htb', defaultClass: 1 }),
  addClassRequest({ link: 1, parent: tcHandle(1), handle: tcHandle(1, 1), rate: 1e11 }),
  addFilterRequest({
    link: 1,
    priority: 1,
    keys: [{ value: 1, mask: 1, offset: 0 }],
    action: { kind: 'mirred', target: 2, direction: 'egress' },
  }),
];

/** A payload with some bytes changed, then cut. */
const spoilt = fc
  .tuple(
    fc.constantFrom(...requests.map(({ payload }) => payload)),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
    fc.nat(),
  )
  .map(([payload, changes, cut]) => {
    const bytes = Buffer.from(payload);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return cut % 3 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes;
  });

/** Attributes with random types and contents, nested at random: what a future kernel might send. */
const attributes: fc.Arbitrary<Buffer> = fc.letrec<{ value: Uint8Array; list: Buffer }>((tie) => ({
  list: fc
    .array(fc.tuple(fc.nat(60), tie('value')), { maxLength: 6 })
    .map((list) => Buffer.concat(list.map(([type, value]) => attribute(type, value)))),
  value: fc.oneof({ maxDepth: 3 }, fc.uint8Array({ maxLength: 40 }), tie('list')),
})).list;

const structured = fc
  .tuple(fc.constantFrom(8, 12, 16, 20), fc.uint8Array({ minLength: 20, maxLength: 20 }), attributes)
  .map(([length, header, list]) => Buffer.concat([header.subarray(0, length), list]));

describe.each(Object.entries(decoders))('%s', (_name, decode) => {
  test('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void decodeSafely(decode, bytes)),
      { numRuns: 2_000 },
    );
  });

  test('survives damaged messages', () => {
    fc.assert(
      fc.property(spoilt, (bytes) => void decodeSafely(decode, bytes)),
      { numRuns: 2_000 },
    );
  });

  test('survives unknown attributes', () => {
    fc.assert(
      fc.property(structured, (bytes) => void decodeSafely(decode, bytes)),
      { numRuns: 2_000 },
    );
  });

  test('reads only the message it was given', () => {
    fc.assert(
      fc.property(spoilt, fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes, neighbour) => {
        // The same message inside two different datagrams.
        const text = (around: Uint8Array) => {
          const datagram = Buffer.concat([around, bytes, around]);
          const payload = datagram.subarray(around.length, around.length + bytes.length);
          return JSON.stringify(decodeSafely(decode, payload), (_key, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          );
        };
        expect(text(neighbour)).toBe(text(Buffer.alloc(64, 0xff)));
      }),
    );
  });
});

describe('datagrams', () => {
  test('of random bytes are walked in finite steps', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const datagram = Buffer.from(bytes);
        try {
          expect(readMessages(datagram).length).toBeLessThanOrEqual(datagram.length / 16);
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test('of random bytes do not break a conversation', () => {
    const anyMessage = fc
      .tuple(fc.nat(40), fc.nat(0xffff), fc.nat(3), fc.uint8Array({ maxLength: 60 }))
      .map(([type, flags, sequence, payload]) => message(type, flags, sequence, payload));
    const datagram = fc.oneof(
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
      anyMessage,
    );
    fc.assert(
      fc.property(fc.array(datagram, { maxLength: 8 }), (datagrams) => {
        for (const ask of ['request', 'dump'] as const) {
          const connection = new Conversation(new ScriptedPort(() => datagrams));
          const request = { type: 18, flags: 0, payload: Buffer.alloc(16) };
          try {
            if (ask === 'dump') connection.dump(request);
            else connection.request([request, request]);
          } catch (error) {
            if (!(error instanceof NetlinkError)) throw error;
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('acks of random bytes are decoded or refused', () => {
    fc.assert(
      fc.property(fc.nat(0xffff), fc.uint8Array({ maxLength: 80 }), (flags, payload) => {
        const given = { type: 2, flags, sequence: 1, port: 0, payload: Buffer.from(payload) };
        for (const decode of [decodeAcknowledgement, decodeDone]) {
          try {
            expect(decode(given).errno).toBeGreaterThanOrEqual(0);
          } catch (error) {
            if (!(error instanceof DecodeError)) throw error;
          }
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('attributes', () => {
  test('are written and read alike', () => {
    const entry = fc.tuple(fc.integer({ min: 1, max: 0x3fff }), fc.uint8Array({ maxLength: 600 }));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const writer = new PayloadWriter(8);
        for (const [type, value] of entries) writer.bytes(type, value);
        const read = [...eachAttribute(writer.finish(), 8)].map(({ type, value }) => [type, [...value]]);
        expect(read).toEqual(entries.map(([type, value]) => [type, [...value]]));
      }),
    );
  });

  test('of every size are written and read alike', () => {
    const writer = new PayloadWriter(0)
      .u8(1, 0xff)
      .u16(2, 0xffff)
      .u32(3, 0xffffffff)
      .i32(4, -1)
      .u64(5, 2n ** 64n - 1n)
      .be16(6, 0x1234)
      .be32(7, 0x12345678)
      .text(8, 'añb')
      .flag(9)
      .nest(10, (inside) => inside.u8(1, 1).nest(2, (deeper) => deeper.u8(3, 3)));
    const read = new Attributes(writer.finish());
    expect([read.u8(1), read.u16(2), read.u32(3), read.i32(4), read.u64(5)]).toEqual([
      0xff,
      0xffff,
      0xffffffff,
      -1,
      2n ** 64n - 1n,
    ]);
    expect([read.be16(6), read.be32(7), read.text(8), read.has(9), read.has(99)]).toEqual([
      0x1234,
      0x12345678,
      'añb',
      true,
      false,
    ]);
    expect(read.nested(10)?.nested(2)?.u8(3)).toBe(3);
    expect([read.u8(99), read.u64(99), read.nested(99), read.text(99)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(() => read.u32(1)).toThrow(DecodeError);
  });

  test('that appear twice count once: the last one does', () => {
    expect(new Attributes(new PayloadWriter(0).u8(1, 1).u8(1, 2).finish()).u8(1)).toBe(2);
  });

  test('too large for their length field are refused', () => {
    const large = Buffer.alloc(0x10000);
    expect(() => new PayloadWriter(0).bytes(1, large)).toThrow(RangeError);
    const half = Buffer.alloc(0x9000);
    const nested = (): unknown =>
      new PayloadWriter(0).nest(1, (inside) => inside.bytes(1, half).bytes(2, half));
    expect(nested).toThrow(RangeError);
  });
});
