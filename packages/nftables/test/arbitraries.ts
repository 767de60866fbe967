import { formatAddress } from '@podwire/addresses';
import type { NetlinkMessage } from '@podwire/netlink';
import fc from 'fast-check';
import type { Element, Verdict } from '../src/element.js';
import { type PlainType, protocols, type Value } from '../src/values.js';

const ipv4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => formatAddress({ family: 4, value }));
const ipv6 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => formatAddress({ family: 6, value }));
const name = fc.string({ unit: fc.constantFrom(...'abcxyz019-_.'), minLength: 1, maxLength: 15 });
const numbered = fc
  .integer({ min: 0, max: 255 })
  .filter((number) => !(Object.values(protocols) as number[]).includes(number));

type PlainValue = Extract<Value, { type: PlainType }>;

/** Any value, as decoding would give it back. */
const value: fc.Arbitrary<PlainValue> = fc.oneof(
  ipv4.map((value): PlainValue => ({ type: 'ipv4_addr', value })),
  ipv6.map((value): PlainValue => ({ type: 'ipv6_addr', value })),
  fc.integer({ min: 0, max: 65_535 }).map((value): PlainValue => ({ type: 'inet_service', value })),
  fc.constantFrom(...Object.keys(protocols)).map((value): PlainValue => ({ type: 'inet_proto', value })),
  numbered.map((value): PlainValue => ({ type: 'inet_proto', value })),
  name.map((value): PlainValue => ({ type: 'ifname', value })),
  fc.integer({ min: 0, max: 0xffffffff }).map((value): PlainValue => ({ type: 'mark', value })),
);

export const values = fc.array(value, { minLength: 1, maxLength: 5 });

const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.constantFrom('accept', 'drop', 'continue', 'return').map((verdict): Verdict => ({ verdict })),
  fc.record({ verdict: fc.constantFrom('jump', 'goto'), chain: name }),
);

interface PlainElement extends Element {
  readonly key: readonly PlainValue[];
  readonly value?: readonly PlainValue[];
}

export const element: fc.Arbitrary<PlainElement> = fc
  .record({
    key: values,
    data: fc.oneof(
      fc.constant({}),
      values.map((value) => ({ value })),
      verdict.map((verdict) => ({ verdict })),
    ),
    comment: fc.option(
      fc.string({ maxLength: 32 }).filter((text) => !text.includes('\0')),
      { nil: undefined },
    ),
  })
  .map(({ key, data, comment }) => ({ key, ...data, ...(comment === undefined ? {} : { comment }) }));

/** Bytes that say anything, among them well-formed attributes with wild contents. */
const attribute = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.uint8Array({ maxLength: 40 }), fc.integer({ min: -3, max: 3 }))
  .map(([type, contents, error]) => {
    const bytes = Buffer.alloc(4 + ((contents.length + 3) & ~3));
    bytes.writeUInt16LE(Math.max(0, 4 + contents.length + (error === 3 ? 3 : 0)), 0);
    bytes.writeUInt16LE(type, 2);
    bytes.set(contents, 4);
    return bytes;
  });
const wild = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.array(attribute, { maxLength: 8 }).map((attributes) => Buffer.concat(attributes)),
);

export function message(payload: Uint8Array): NetlinkMessage {
  return { type: 0, flags: 0, payload };
}

const header = fc.constantFrom(0, 1, 2, 7, 10, 99).map((family) => Buffer.from([family, 0, 0, 0]));

/** A message from a kernel that has gone mad. */
export const wildMessage = fc.tuple(header, wild).map((parts) => message(Buffer.concat(parts)));
export const anyMessage = fc.oneof(wildMessage, fc.uint8Array({ maxLength: 64 }).map(message));

/** A good message with some bytes changed and perhaps its end missing. */
export function damaged(good: fc.Arbitrary<Buffer>): fc.Arbitrary<NetlinkMessage> {
  const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 6 });
  return fc.tuple(good, damage, fc.option(fc.nat())).map(([bytes, changes, end]) => {
    const copy = Buffer.from(bytes);
    for (const [at, byte] of changes) copy[at % copy.length] = byte;
    return message(end === null ? copy : copy.subarray(0, end % (copy.length + 1)));
  });
}
