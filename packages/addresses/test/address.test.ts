import net from 'node:net';
import fc from 'fast-check';
import { Address4, Address6 } from 'ip-address';
import { describe, expect, it } from 'vitest';
import {
  type Address,
  addressAt,
  addressFromBytes,
  firstOfEachFamily,
  addressKey,
  addressToBytes,
  bracketHost,
  compareAddresses,
  embeddedIPv4,
  familyOf,
  formatAddress,
  parseAddress,
  tryParseAddress,
} from '@podwire/addresses';
import { address, ipv4, ipv6 } from './arbitrary.js';

describe('parseAddress', () => {
  it.each([
    ['0.0.0.0', 4, 0n],
    ['255.255.255.255', 4, 0xffff_ffffn],
    ['10.244.1.2', 4, 0x0af4_0102n],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['1::', 6, 1n << 112n],
    ['FD00:0244::000A', 6, (0xfd00_0244n << 96n) + 10n],
    ['1:2:3:4:5:6:7:8', 6, 0x0001_0002_0003_0004_0005_0006_0007_0008n],
    ['1:2:3:4:5:6:7::', 6, 0x0001_0002_0003_0004_0005_0006_0007_0000n],
    ['::2:3:4:5:6:7:8', 6, 0x0000_0002_0003_0004_0005_0006_0007_0008n],
    ['64:ff9b::1.2.3.4', 6, (0x64_ff9bn << 96n) + 0x0102_0304n],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', 6, 0xffff_ffff_ffffn],
  ])('reads %s', (text, family, value) => {
    expect(parseAddress(text)).toEqual({ family, value });
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-4',
    '01.2.3.4',
    '010.0.0.1',
    '0x7f.0.0.1',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '1..2.3',
    '1.2.3.',
    '1.2.3.1e1',
    '١.2.3.4',
    '1.2.3.4/24',
    'localhost',
    ':',
    ':::',
    '::::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4::5:6:7:8',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '::12345',
    '::g',
    '::0x1',
    '::-1',
    'fe80::1%eth0',
    '[::1]',
    '::1/64',
    '::1.2.3',
    '::1.2.3.04',
    '::1.2.3.256',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1 ',
    '::\u0000',
  ])('refuses %j', (text) => {
    expect(() => parseAddress(text)).toThrow(RangeError);
    expect(tryParseAddress(text)).toBeUndefined();
  });

  it('names the text, says what is wrong where it can, and cuts what is too long', () => {
    expect(() => parseAddress('1.2.3')).toThrow('not an IP address: "1.2.3"');
    expect(() => parseAddress('fe80::1%eth0')).toThrow('a zone is not part of an address');
    expect(() => parseAddress('10.0.0.1/24')).toThrow('a length is not part of an address');
    const message = (() => {
      try {
        parseAddress('1'.repeat(1_000_000));
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(message.length).toBeLessThan(150);
  });

  it('keeps an IPv4-mapped address apart from the IPv4 address inside it', () => {
    const mapped = parseAddress('::ffff:1.2.3.4');
    expect(mapped.family).toBe(6);
    expect(addressKey(mapped)).not.toBe(addressKey(parseAddress('1.2.3.4')));
    expect(embeddedIPv4(mapped)).toEqual(parseAddress('1.2.3.4'));
    expect(embeddedIPv4(parseAddress('::1.2.3.4'))).toBeUndefined();
    expect(embeddedIPv4(parseAddress('1.2.3.4'))).toBeUndefined();
    expect(formatAddress(parseAddress('::FFFF:102:304'))).toBe('::ffff:1.2.3.4');
  });

  const nearlyAddress = fc
    .array(
      fc.constantFrom('0', '1', '9', '25', '255', 'a', 'ffff', ':', '::', '.', '.', '00', '%', '/', ' '),
      {
        maxLength: 17,
      },
    )
    .map((parts) => parts.join(''));

  it('accepts what Node and ip-address both accept, and nothing that either refuses', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyAddress, fc.string(), address.map(formatAddress)), (text) => {
        const zone = text.includes('%') || text.includes('/');
        const isValid = !zone && net.isIP(text) !== 0 && isValidElsewhere(text);
        expect(tryParseAddress(text) !== undefined).toBe(isValid);
      }),
      { numRuns: 3000 },
    );
  });

  it('reads the same number as ip-address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const reference = text.includes(':') ? new Address6(text) : new Address4(text);
        expect(parseAddress(text).value).toBe(reference.bigInt());
      }),
      { numRuns: 1000 },
    );
  });
});

function isValidElsewhere(text: string): boolean {
  return text.includes(':') ? Address6.isValid(text) : Address4.isValid(text);
}

describe('formatAddress', () => {
  it.each([
    // RFC 5952 §4.2.2: one group alone is not shortened; §4.2.3: the longest run, the first of equals
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:DB8::', '2001:db8::'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['0:0:1:0:0:0:0:0', '0:0:1::'],
    ['::ffff:0:0', '::ffff:0.0.0.0'],
    ['::1.2.3.4', '::102:304'],
    ['255.0.255.1', '255.0.255.1'],
  ])('writes %s as %s', (text, canonical) => {
    expect(formatAddress(parseAddress(text))).toBe(canonical);
  });

  it('writes IPv4 as ip-address does', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        expect(formatAddress(value)).toBe(Address4.fromBigInt(value.value).correctForm());
      }),
    );
  });

  it('writes IPv6 as ip-address does, but IPv4-mapped ones in the mixed form', () => {
    fc.assert(
      fc.property(ipv6, (value) => {
        fc.pre(embeddedIPv4(value) === undefined);
        expect(formatAddress(value)).toBe(Address6.fromBigInt(value.value).correctForm());
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(ipv4, (inner) => {
        const mapped: Address = { family: 6, value: (0xffffn << 32n) | inner.value };
        expect(formatAddress(mapped)).toBe(`::ffff:${formatAddress(inner)}`);
      }),
    );
  });

  it('is undone by parseAddress', () => {
    fc.assert(
      fc.property(address, (value) => {
        expect(parseAddress(formatAddress(value))).toEqual(value);
      }),
    );
  });
});

describe('bytes', () => {
  it('are in network order', () => {
    expect([...addressToBytes(parseAddress('10.1.2.3'))]).toEqual([10, 1, 2, 3]);
    expect([...addressToBytes(parseAddress('fd00::102'))]).toEqual([
      0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2,
    ]);
  });

  it('go there and back, also out of the middle of a buffer', () => {
    fc.assert(
      fc.property(address, fc.nat(40), (value, offset) => {
        const bytes = addressToBytes(value);
        const buffer = new Uint8Array(64);
        buffer.set(bytes, offset);
        expect(addressFromBytes(buffer.subarray(offset, offset + bytes.length))).toEqual(value);
        expect(addressFromBytes(Buffer.from(bytes))).toEqual(value);
      }),
    );
  });

  it.each([0, 3, 5, 15, 17])('refuses %i bytes', (length) => {
    expect(() => addressFromBytes(new Uint8Array(length))).toThrow(`an address of ${length} bytes`);
  });
});

describe('order, keys and arithmetic', () => {
  it('orders IPv4 before IPv6, then by number', () => {
    const sorted = ['::1', '10.0.0.2', '9.255.255.255', '::', '10.0.0.10'].map(parseAddress);
    expect(sorted.sort(compareAddresses).map(formatAddress)).toEqual([
      '9.255.255.255',
      '10.0.0.2',
      '10.0.0.10',
      '::',
      '::1',
    ]);
    expect(compareAddresses(parseAddress('::1'), parseAddress('::1'))).toBe(0);
  });

  it('has equal keys exactly for equal addresses', () => {
    fc.assert(
      fc.property(address, address, (a, b) => {
        expect(addressKey(a) === addressKey(b)).toBe(compareAddresses(a, b) === 0);
        expect(addressKey({ ...a })).toBe(addressKey(a));
      }),
    );
    expect(addressKey(parseAddress('::1'))).not.toBe(addressKey(parseAddress('0.0.0.1')));
  });

  it('counts on, but not beyond the last or before the first address', () => {
    expect(formatAddress(addressAt(parseAddress('10.0.0.255'), 1))).toBe('10.0.1.0');
    expect(formatAddress(addressAt(parseAddress('fd00::'), -1n))).toBe(
      'fcff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    );
    expect(() => addressAt(parseAddress('255.255.255.255'), 1)).toThrow(RangeError);
    expect(() => addressAt(parseAddress('0.0.0.0'), -1)).toThrow(RangeError);
    expect(() => addressAt(parseAddress('::'), 1n << 128n)).toThrow(RangeError);
  });
});

it('familyOf and bracketHost tell IPv6 by its colon', () => {
  expect(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/64'].map(familyOf)).toEqual([4, 4, 6, 6]);
  expect(['::1', '10.0.0.1', 'node-1'].map(bracketHost)).toEqual(['[::1]', '10.0.0.1', 'node-1']);
});

it.each([
  [[], []],
  [['192.0.2.1', '192.0.2.2'], ['192.0.2.1']],
  [
    ['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2'],
    ['2001:db8::1', '192.0.2.1'],
  ],
])('the first addresses of each family of %j are %j', (addresses, first) => {
  expect(firstOfEachFamily(addresses)).toEqual(first);
});
