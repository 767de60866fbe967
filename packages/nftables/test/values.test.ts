import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeValues,
  encodeValues,
  formatValues,
  lengthOfTypes,
  numberOfTypes,
  parseTypes,
  protocols,
  type PlainType,
  typesOfNumber,
  type Value,
} from '../src/values.js';
import { values } from './arbitraries.js';

const hex = (...list: Value[]): string => Buffer.from(encodeValues(list)).toString('hex');

describe('encodeValues', () => {
  it('writes one value as it is', () => {
    expect(hex({ type: 'ipv4_addr', value: '10.0.0.1' })).toBe('0a000001');
    expect(hex({ type: 'ipv6_addr', value: 'fd00::1' })).toBe(`fd00${'0'.repeat(26)}01`);
    expect(hex({ type: 'inet_service', value: 8080 })).toBe('1f90');
    expect(hex({ type: 'inet_proto', value: 'sctp' })).toBe('84');
    expect(hex({ type: 'inet_proto', value: 6 })).toBe('06');
    expect(hex({ type: 'mark', value: 0x12345678 })).toBe('78563412');
    expect(hex({ type: 'ifname', value: 'eth0' })).toBe(`65746830${'00'.repeat(12)}`);
  });

  it('pads every value of several to four bytes', () => {
    const key: Value[] = [
      { type: 'inet_proto', value: 'tcp' },
      { type: 'inet_service', value: 80 },
    ];
    expect(hex(...key)).toBe('0600000000500000');
    expect(hex({ type: 'ipv4_addr', value: '1.2.3.4' }, ...key)).toBe('010203040600000000500000');
  });

  it.each([
    { type: 'ipv4_addr', value: '1.2.3' },
    { type: 'ipv6_addr', value: '1.2.3.4' },
    { type: 'inet_service', value: -1 },
    { type: 'inet_service', value: '80' },
    { type: 'inet_proto', value: 'toString' },
    { type: 'inet_proto', value: 256 },
    { type: 'ifname', value: 'a\0b' },
    { type: 'mark', value: 2 ** 32 },
    { type: 'constructor', value: 1 },
  ])('refuses %o', (value) => {
    expect(() => encodeValues([value as Value])).toThrow(RangeError);
  });
});

describe('decodeValues', () => {
  it('reads what encodeValues writes', () => {
    fc.assert(
      fc.property(values, (list) => {
        const types = list.map(({ type }) => type);
        const bytes = Buffer.from(encodeValues(list));
        expect(bytes).toHaveLength(lengthOfTypes(types));
        expect(decodeValues(types, bytes)).toEqual(list);
      }),
    );
  });

  it('names protocols, and numbers the others', () => {
    const read = (number: number) => decodeValues(['inet_proto'], Buffer.from([number]))[0]?.value;
    for (const [name, number] of Object.entries(protocols)) expect(read(number)).toBe(name);
    expect(read(200)).toBe(200);
  });

  it('refuses bytes of another length', () => {
    expect(() => decodeValues(['ipv4_addr'], Buffer.alloc(16))).toThrow(/ipv4_addr: 16 of 4 bytes/);
  });
});

describe('the number of a type', () => {
  const types: PlainType[] = ['ipv4_addr', 'ipv6_addr', 'inet_proto', 'inet_service', 'mark', 'ifname'];

  it('is what nft stores', () => {
    // From `nft --debug=netlink` for `type inet_proto . inet_service`.
    expect(numberOfTypes(['inet_proto', 'inet_service'])).toBe((12 << 6) | 13);
    expect(numberOfTypes(['ipv4_addr'])).toBe(7);
  });

  it('says which types they are', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 5 }), (list) => {
        expect(typesOfNumber(numberOfTypes(list))).toEqual(list);
        expect(parseTypes(list.join(' . '))).toEqual(list);
      }),
    );
  });

  it('is unknown for foreign types', () => {
    expect(typesOfNumber(0)).toBeUndefined();
    expect(typesOfNumber((9 << 6) | 13)).toBeUndefined();
    expect(typesOfNumber(0xffffff00)).toBeUndefined();
    expect(parseTypes('ether_addr')).toBeUndefined();
    expect(parseTypes('')).toBeUndefined();
  });
});

describe('formatValues', () => {
  it('speaks as nft does', () => {
    const key: Value[] = [
      { type: 'ifname', value: 'cali1' },
      { type: 'mark', value: 7 },
      { type: 'inet_service', value: 80 },
    ];
    expect(formatValues(key)).toBe('"cali1" . 0x00000007 . 80');
  });
});
