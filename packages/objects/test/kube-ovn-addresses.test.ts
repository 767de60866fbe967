/** Addresses of subnets: ranges that are excluded and what is left, and what two subnets must not share. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AddressRange,
  checkObject,
  findSubnetConflicts,
  formatRange,
  mergeRanges,
  parseExcludeIps,
  parseGatewayNodes,
  rangesOf,
  type Subnet,
} from '../src/index.js';

type Fields = Readonly<Record<string, unknown>>;

function subnet(name: string, spec: Fields): Subnet {
  const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name }, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.object as Subnet;
}

const format = (ranges: readonly AddressRange[]): string => ranges.map(formatRange).join(' ');

describe('excludeIps', () => {
  test.each<[string, readonly string[], string]>([
    ['nothing', [], ''],
    ['one address', ['10.0.0.1'], '10.0.0.1'],
    ['a range of one address', ['10.0.0.1..10.0.0.1'], '10.0.0.1'],
    ['ranges out of order', ['10.0.0.9', '10.0.0.1..10.0.0.3'], '10.0.0.1..10.0.0.3 10.0.0.9'],
    ['ranges that touch', ['10.0.0.4', '10.0.0.1..10.0.0.3'], '10.0.0.1..10.0.0.4'],
    ['a range within another', ['10.0.0.1..10.0.0.9', '10.0.0.3..10.0.0.4'], '10.0.0.1..10.0.0.9'],
    ['families whose numbers touch', ['255.255.255.255', '::1:0:0'], '255.255.255.255 ::1:0:0'],
  ])('reads %s', (_, texts, wanted) => {
    expect(format(parseExcludeIps(texts))).toBe(wanted);
  });

  test('names a text that is no range', () => {
    expect(() => parseExcludeIps(['10.0.0.1', '10.0.0.9..10.0.0.3'])).toThrow(
      '"10.0.0.9..10.0.0.3" must begin with the lower address: 10.0.0.3..10.0.0.9',
    );
  });
});

/** Few numbers, so that ranges meet often. */
const range = fc
  .tuple(fc.constantFrom<4 | 6>(4, 6), fc.nat(40), fc.nat(8))
  .map(([family, first, more]) => ({ family, first: BigInt(first), last: BigInt(first + more) }));

function addressesOf(ranges: readonly AddressRange[]): Set<string> {
  const all = new Set<string>();
  for (const { family, first, last } of ranges)
    for (let value = first; value <= last; value++) all.add(`${family}/${value}`);
  return all;
}

test('merged ranges have the same addresses, in order, as few as possible', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
      const merged = mergeRanges(ranges);
      expect(addressesOf(merged)).toEqual(addressesOf(ranges));
      for (const [index, each] of merged.entries()) {
        const next = merged[index + 1];
        expect(each.first <= each.last).toBe(true);
        if (next === undefined || next.family > each.family) continue;
        expect(next.family).toBe(each.family);
        expect(next.first > each.last + 1n).toBe(true);
      }
    }),
  );
});

test('free and reserved addresses are the usable ones, each once', () => {
  const excluded = fc
    .tuple(fc.nat(63), fc.nat(63))
    .map(([a, b]) => `10.0.0.${Math.min(a, b)}..10.0.0.${Math.max(a, b)}`);
  fc.assert(
    fc.property(fc.array(excluded, { maxLength: 5 }), (excludeIps) => {
      const [only] = rangesOf(subnet('a', { cidrBlock: '10.0.0.0/26', excludeIps }));
      const [free, reserved] = [addressesOf(only!.free), addressesOf(only!.reserved)];
      expect([...free].filter((each) => reserved.has(each))).toEqual([]);
      expect(new Set([...free, ...reserved])).toEqual(addressesOf([only!.usable]));
      expect(reserved.has(`4/${only!.gateway.value}`)).toBe(true);
    }),
  );
});

describe('the ranges of a subnet', () => {
  test.each<[string, Fields, readonly (readonly [usable: string, reserved: string, free: string])[]]>([
    [
      'has neither its first nor its last address',
      { cidrBlock: '10.0.0.0/24' },
      [['10.0.0.1..10.0.0.254', '10.0.0.1', '10.0.0.2..10.0.0.254']],
    ],
    [
      'is cut at its ends',
      {
        cidrBlock: '10.0.0.0/24',
        excludeIps: ['10.0.0.0..10.0.0.9', '10.0.0.100', '10.0.0.250..10.0.0.255'],
      },
      [
        [
          '10.0.0.1..10.0.0.254',
          '10.0.0.1..10.0.0.9 10.0.0.100 10.0.0.250..10.0.0.254',
          '10.0.0.10..10.0.0.99 10.0.0.101..10.0.0.249',
        ],
      ],
    ],
    [
      'may have nothing free',
      { cidrBlock: '10.0.0.0/30', excludeIps: ['10.0.0.2'] },
      [['10.0.0.1..10.0.0.2', '10.0.0.1..10.0.0.2', '']],
    ],
    [
      'is there for each family',
      { cidrBlock: '10.0.0.0/30,fd00::/64', excludeIps: ['fd00::5'] },
      [
        ['10.0.0.1..10.0.0.2', '10.0.0.1', '10.0.0.2'],
        [
          'fd00::1..fd00::ffff:ffff:ffff:fffe',
          'fd00::1 fd00::5',
          'fd00::2..fd00::4 fd00::6..fd00::ffff:ffff:ffff:fffe',
        ],
      ],
    ],
  ])('%s', (_, spec, wanted) => {
    const found = rangesOf(subnet('a', spec));
    expect(
      found.map(({ usable, reserved, free }) => [formatRange(usable), format(reserved), format(free)]),
    ).toEqual(wanted);
  });

  test('are refused of an object that no schema has read', () => {
    const spec = { cidrBlock: '10.0.0.0/24', gateway: '', excludeIps: [] };
    expect(() => rangesOf({ spec })).toThrow('the subnet 10.0.0.0/24 with the gateway  was not checked');
  });
});

const messagesOf = (...subnets: readonly Subnet[]): readonly string[] =>
  findSubnetConflicts(subnets).map(({ message }) => message);

const routed = {
  externalEgressGateway: '192.168.1.1',
  policyRoutingPriority: 1000,
  policyRoutingTableID: 1000,
};

describe('two subnets', () => {
  test.each<[string, Subnet, Subnet]>([
    ['side by side', subnet('a', { cidrBlock: '10.0.0.0/24' }), subnet('b', { cidrBlock: '10.0.1.0/24' })],
    [
      'with the same prefix in two VPCs',
      subnet('a', { cidrBlock: '10.0.0.0/24' }),
      subnet('b', { cidrBlock: '10.0.0.0/24', vpc: 'red' }),
    ],
    [
      'with the same prefix in two VLANs',
      subnet('a', { cidrBlock: '10.0.0.0/24', vlan: 'vlan10' }),
      subnet('b', { cidrBlock: '10.0.0.0/24', vlan: 'vlan20' }),
    ],
    [
      'of which one is the default',
      subnet('a', { cidrBlock: '10.0.0.0/24', default: true, namespaces: ['x'] }),
      subnet('b', { cidrBlock: '10.0.1.0/24', ...routed, namespaces: ['y'] }),
    ],
  ])('agree %s', (_, a, b) => {
    expect(messagesOf(a, b)).toEqual([]);
  });

  test.each<[string, Fields, Fields, string]>([
    [
      'have the same prefix',
      { cidrBlock: '10.0.0.0/24' },
      { cidrBlock: '10.0.0.0/24' },
      'spec.cidrBlock: 10.0.0.0/24 overlaps 10.0.0.0/24 of spec.cidrBlock of Subnet a in the VPC ovn-cluster',
    ],
    [
      'lie one around the other',
      { cidrBlock: '10.0.3.0/24' },
      { cidrBlock: '10.0.0.0/16' },
      'spec.cidrBlock: 10.0.0.0/16 overlaps 10.0.3.0/24 of spec.cidrBlock of Subnet a in the VPC ovn-cluster',
    ],
    [
      'overlap in IPv6 alone',
      { cidrBlock: '10.0.0.0/24,fd00::/64', vpc: 'red' },
      { cidrBlock: '10.0.1.0/24,fd00::/80', vpc: 'red' },
      'spec.cidrBlock: fd00::/80 overlaps fd00::/64 of spec.cidrBlock of Subnet a in the VPC red',
    ],
    [
      'overlap in a VLAN',
      { cidrBlock: '10.0.0.0/24', vlan: 'vlan10' },
      { cidrBlock: '10.0.0.0/25', vlan: 'vlan10' },
      'spec.cidrBlock: 10.0.0.0/25 overlaps 10.0.0.0/24 of spec.cidrBlock of Subnet a in the VPC ovn-cluster and the VLAN vlan10',
    ],
    [
      'have one routing table',
      { cidrBlock: '10.0.0.0/24', ...routed },
      { cidrBlock: '10.0.1.0/24', ...routed },
      'spec.policyRoutingTableID: 1000 is that of spec.policyRoutingTableID of Subnet a already',
    ],
    [
      'are both the default',
      { cidrBlock: '10.0.0.0/24', default: true },
      { cidrBlock: '10.0.1.0/24', default: true },
      'spec.default: true is that of spec.default of Subnet a already',
    ],
    [
      'have one namespace',
      { cidrBlock: '10.0.0.0/24', namespaces: ['shop'] },
      { cidrBlock: '10.0.1.0/24', namespaces: ['bank', 'shop'] },
      'spec.namespaces[1]: shop is that of spec.namespaces[0] of Subnet a already',
    ],
  ])('%s', (_, first, second, problem) => {
    const [a, b] = [subnet('a', first), subnet('b', second)];
    expect(messagesOf(a, b)).toEqual([`Subnet b: ${problem}`]);
    expect(findSubnetConflicts([a, b])[0]!.subnets).toEqual(['a', 'b']);
  });
});

test('an overlap is found whatever lies between the two', () => {
  const third = fc.integer({ min: 0, max: 15 });
  const spec = fc.tuple(third, fc.integer({ min: 20, max: 28 })).map(([part, length]) => ({
    part: part & (length < 24 ? 0xf0 & (0xff << (24 - length)) : 0xff),
    length,
  }));
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 8 }), (specs) => {
      const subnets = specs.map(({ part, length }, index) =>
        subnet(`s${index}`, { cidrBlock: `10.0.${part}.0/${length}` }),
      );
      const ends = subnets.map((each) => rangesOf(each)[0]!.usable);
      const colliding = ends.filter((a) =>
        ends.some((b) => a !== b && a.first <= b.last && b.first <= a.last),
      );
      const named = new Set(findSubnetConflicts(subnets).flatMap((conflict) => conflict.subnets));
      expect(named.size).toBe(colliding.length);
    }),
  );
});

test('nodes of a gateway are read with their addresses', () => {
  expect(parseGatewayNodes('n1, n2:fd00::1')).toEqual([
    { node: 'n1' },
    { node: 'n2', address: { family: 6, value: (0xfd00n << 112n) | 1n } },
  ]);
  expect(parseGatewayNodes('')).toEqual([]);
  expect(() => parseGatewayNodes('n1,n2:x')).toThrow('"n2:x" is no NODE or NODE:ADDRESS');
});
