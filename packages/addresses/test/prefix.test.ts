import fc from 'fast-check';
import { Address4, Address6 } from 'ip-address';
import { describe, expect, it } from 'vitest';
import {
  addressAt,
  compareAddresses,
  containsAddress,
  containsPrefix,
  formatAddress,
  formatPrefix,
  hostPrefix,
  lastAddress,
  overlaps,
  parseAddress,
  parseInterfaceAddress,
  parsePrefix,
  prefixOf,
  prefixSize,
  splitPrefix,
} from '@podwire/addresses';
import { address, prefix } from './arbitrary.js';

describe('parsePrefix', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['1.2.3.4/32', '1.2.3.4/32'],
    ['FD00:244:0::/48', 'fd00:244::/48'],
    ['::/0', '::/0'],
    ['::1/128', '::1/128'],
  ])('reads %s', (text, canonical) => {
    expect(formatPrefix(parsePrefix(text))).toBe(canonical);
  });

  it.each([
    '',
    '/',
    '10.0.0.0',
    '10.0.0.0/',
    '/24',
    '10.0.0.0/024',
    '10.0.0.0/+8',
    '10.0.0.0/8.0',
    '10.0.0.0/1e1',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    '10.0.0.0/33',
    '10.0.0.0/999',
    '::/129',
    '10.0.0/8',
    '010.0.0.0/8',
    'fe80::%eth0/64',
  ])('refuses %j', (text) => {
    expect(() => parsePrefix(text)).toThrow(RangeError);
    expect(() => parsePrefix(text, { loose: true })).toThrow(RangeError);
  });

  it('names the prefix that was probably meant when bits beyond the length are set', () => {
    expect(() => parsePrefix('10.0.0.7/24')).toThrow(
      '10.0.0.7/24 has bits set beyond its length; the prefix is 10.0.0.0/24',
    );
    expect(formatPrefix(parsePrefix('10.0.0.7/24', { loose: true }))).toBe('10.0.0.0/24');
    expect(() => parsePrefix('10.0.0.0/33')).toThrow('10.0.0.0/33 has a length above 32');
  });

  it('is undone by formatPrefix', () => {
    fc.assert(
      fc.property(prefix, (value) => {
        expect(parsePrefix(formatPrefix(value))).toEqual(value);
      }),
    );
  });
});

it('reads an interface address with all its bits', () => {
  expect(parseInterfaceAddress('10.0.3.7/24')).toEqual({ address: parseAddress('10.0.3.7'), length: 24 });
  expect(() => parseInterfaceAddress('10.0.3.7')).toThrow('not a prefix (ADDRESS/LENGTH): "10.0.3.7"');
});

describe('prefixes agree with ip-address', () => {
  it('on the first and the last address', () => {
    fc.assert(
      fc.property(prefix, (value) => {
        const text = formatPrefix(value);
        const reference = value.family === 4 ? new Address4(text) : new Address6(text);
        expect(value.address.value).toBe(reference.startAddress().bigInt());
        expect(lastAddress(value).value).toBe(reference.endAddress().bigInt());
        expect(prefixSize(value)).toBe(
          reference.endAddress().bigInt() - reference.startAddress().bigInt() + 1n,
        );
      }),
    );
  });

  it('on the prefix that an address lies in', () => {
    fc.assert(
      fc.property(address, fc.nat(128), (value, length) => {
        fc.pre(value.family === 6 || length <= 32);
        const text = `${formatAddress(value)}/${length}`;
        const reference = value.family === 4 ? new Address4(text) : new Address6(text);
        expect(prefixOf(value, length).address.value).toBe(reference.startAddress().bigInt());
      }),
    );
  });
});

describe('containment', () => {
  it('holds exactly between the first and the last address', () => {
    fc.assert(
      fc.property(prefix, address, (outer, value) => {
        const between =
          value.family === outer.family &&
          compareAddresses(outer.address, value) <= 0 &&
          compareAddresses(value, lastAddress(outer)) <= 0;
        expect(containsAddress(outer, value)).toBe(between);
      }),
    );
  });

  it('of prefixes is containment of both ends, and overlap is containment one way', () => {
    const near = fc.tuple(prefix, fc.nat(128), fc.nat(128)).map(([base, longer, flip]) => {
      const bits = base.family === 4 ? 32 : 128;
      const other = { family: base.family, value: base.address.value ^ (1n << BigInt(flip % bits)) };
      return [base, prefixOf(other, longer % (bits + 1))] as const;
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(prefix, prefix)), ([a, b]) => {
        const inside = containsAddress(a, b.address) && containsAddress(a, lastAddress(b));
        expect(containsPrefix(a, b)).toBe(inside);
        expect(overlaps(a, b)).toBe(overlaps(b, a));
        const touch = containsAddress(a, b.address) || containsAddress(b, a.address);
        expect(overlaps(a, b)).toBe(touch);
      }),
    );
  });

  it('never mixes families', () => {
    expect(containsAddress(parsePrefix('::/0'), parseAddress('1.2.3.4'))).toBe(false);
    expect(containsPrefix(parsePrefix('0.0.0.0/0'), parsePrefix('::ffff:0:0/96'))).toBe(false);
    expect(overlaps(parsePrefix('0.0.0.0/0'), parsePrefix('::/0'))).toBe(false);
  });
});

it('makes host prefixes and refuses lengths outside the family', () => {
  expect(formatPrefix(hostPrefix(parseAddress('10.0.0.1')))).toBe('10.0.0.1/32');
  expect(formatPrefix(hostPrefix(parseAddress('fd00::1')))).toBe('fd00::1/128');
  for (const length of [-1, 33, 1.5, Number.NaN]) {
    expect(() => prefixOf(parseAddress('10.0.0.1'), length)).toThrow(RangeError);
  }
});

describe('splitPrefix', () => {
  it('gives the parts in order', () => {
    expect([...splitPrefix(parsePrefix('10.0.0.0/24'), 26)].map(formatPrefix)).toEqual([
      '10.0.0.0/26',
      '10.0.0.64/26',
      '10.0.0.128/26',
      '10.0.0.192/26',
    ]);
    expect([...splitPrefix(parsePrefix('255.255.255.254/31'), 32)].map(formatPrefix)).toEqual([
      '255.255.255.254/32',
      '255.255.255.255/32',
    ]);
  });

  it('covers the prefix without gap or overlap', () => {
    fc.assert(
      fc.property(prefix, fc.nat(6), (whole, more) => {
        const length = Math.min(whole.length + more, whole.family === 4 ? 32 : 128);
        let next = whole.address.value;
        for (const part of splitPrefix(whole, length)) {
          expect(part.address.value).toBe(next);
          next = lastAddress(part).value + 1n;
        }
        expect(next).toBe(lastAddress(whole).value + 1n);
      }),
    );
  });

  it('is lazy, and complains at once', () => {
    const [first] = splitPrefix(parsePrefix('fd00::/8'), 122);
    expect(formatPrefix(first!)).toBe('fd00::/122');
    expect(() => splitPrefix(parsePrefix('10.0.0.0/24'), 23)).toThrow('cannot split a /24 into /23');
    expect(() => splitPrefix(parsePrefix('10.0.0.0/24'), 33)).toThrow(RangeError);
  });

  it('reaches the end of the address space', () => {
    const all = parsePrefix('ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0/124');
    expect([...splitPrefix(all, 128)]).toHaveLength(16);
    expect(formatAddress(addressAt(all.address, 15))).toBe('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
  });
});
