/** Subnets of nodes, in the order of the original: its own test cases (subnet_allocator_test.go), and others. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { overlaps, parsePrefix } from '@podwire/addresses';
import { SubnetRanges } from '../src/index.js';
import { rotatedOrder } from '../src/allocation/rotated-order.js';

type Entry = readonly [cidr: string, hostBits: number];

const createRanges = (
  entries: readonly Entry[],
  cursors: Readonly<Record<string, number>> = {},
): SubnetRanges =>
  new SubnetRanges(
    entries.map(([CIDR, hostSubnetLength]) => ({ CIDR, hostSubnetLength })),
    cursors,
  );

const allocateMany = (ranges: SubnetRanges, count: number): (string | undefined)[] =>
  Array.from({ length: count }, () => ranges.allocate());

describe('the order of subnets', () => {
  /** Some of the subnets, by their place in the order. */
  test.each<[string, number, Readonly<Record<number, string>>, number]>([
    [
      '10.128.0.0/14',
      9,
      {
        0: '10.128.0.0/23',
        1: '10.129.0.0/23',
        2: '10.130.0.0/23',
        3: '10.131.0.0/23',
        4: '10.128.2.0/23',
        5: '10.129.2.0/23',
        511: '10.131.254.0/23',
      },
      512,
    ],
    ['10.1.0.0/16', 8, { 0: '10.1.0.0/24', 1: '10.1.1.0/24', 255: '10.1.255.0/24' }, 256],
    ['10.1.0.0/16', 10, { 0: '10.1.0.0/22', 1: '10.1.4.0/22', 63: '10.1.252.0/22' }, 64],
    [
      '10.1.0.0/16',
      6,
      {
        0: '10.1.0.0/26',
        1: '10.1.1.0/26',
        255: '10.1.255.0/26',
        256: '10.1.0.64/26',
        511: '10.1.255.64/26',
        512: '10.1.0.128/26',
        1023: '10.1.255.192/26',
      },
      1024,
    ],
    [
      '10.0.0.0/14',
      10,
      { 3: '10.3.0.0/22', 4: '10.0.4.0/22', 7: '10.3.4.0/22', 8: '10.0.8.0/22', 255: '10.3.252.0/22' },
      256,
    ],
    ['10.1.0.0/16', 16, { 0: '10.1.0.0/16' }, 1],
    ['10.1.0.0/16', 14, { 0: '10.1.0.0/18', 1: '10.1.64.0/18', 3: '10.1.192.0/18' }, 4],
    ['10.1.0.0/24', 2, { 0: '10.1.0.0/30', 1: '10.1.0.4/30', 63: '10.1.0.252/30' }, 64],
  ])('of %s with %i bits for hosts is that of the original', (cidr, hostBits, expected, count) => {
    const subnets = allocateMany(createRanges([[cidr, hostBits]]), count + 1);
    for (const [at, subnet] of Object.entries(expected))
      expect([at, subnets[Number(at)]]).toEqual([at, subnet]);
    expect(new Set(subnets).size).toBe(count + 1);
    expect(subnets[count]).toBeUndefined();
  });

  test('is a permutation for all lengths', () => {
    for (let hostBits = 2; hostBits <= 20; hostBits++)
      for (let subnetBits = 0; subnetBits <= 11; subnetBits++) {
        const { blockAt, placeOf } = rotatedOrder(hostBits, subnetBits);
        const places = Array.from({ length: 2 ** subnetBits }, (_, place) => place);
        expect(places.map((place) => placeOf(blockAt(place)))).toEqual(places);
      }
  });

  test('has no number above 30 bits', () => {
    const { blockAt, placeOf } = rotatedOrder(2, 30);
    for (const place of [0, 1, 2 ** 29, 2 ** 30 - 1]) expect(placeOf(blockAt(place))).toBe(place);
    expect(blockAt(2 ** 24)).toBe(1);
  });

  test('goes on around the end', () => {
    const ranges = createRanges([['10.1.0.0/16', 6]], { '10.1.0.0/16': 1023 });
    ranges.take(parsePrefix('10.1.0.0/26'));
    expect(allocateMany(ranges, 3)).toEqual(['10.1.255.192/26', '10.1.1.0/26', '10.1.2.0/26']);
    expect(ranges.cursors).toEqual({ '10.1.0.0/16': 3 });
  });
});

describe('a range', () => {
  test('hands out again what comes back, as the last', () => {
    const ranges = createRanges([['10.1.0.0/16', 14]]);
    ranges.allocate();
    ranges.giveBack(parsePrefix('10.1.0.0/18'));
    expect(allocateMany(ranges, 5)).toEqual([
      '10.1.64.0/18',
      '10.1.128.0/18',
      '10.1.192.0/18',
      '10.1.0.0/18',
      undefined,
    ]);
    ranges.giveBack(parsePrefix('10.1.128.0/18'));
    expect(allocateMany(ranges, 2)).toEqual(['10.1.128.0/18', undefined]);
  });

  test('comes after those in front of it', () => {
    const ranges = createRanges([
      ['10.1.0.0/16', 15],
      ['10.2.0.0/16', 15],
    ]);
    expect(allocateMany(ranges, 5)).toEqual([
      '10.1.0.0/17',
      '10.1.128.0/17',
      '10.2.0.0/17',
      '10.2.128.0/17',
      undefined,
    ]);
    for (const cidr of ['10.1.128.0/17', '10.2.128.0/17']) ranges.giveBack(parsePrefix(cidr));
    expect(allocateMany(ranges, 3)).toEqual(['10.1.128.0/17', '10.2.128.0/17', undefined]);
  });

  test('leaves out what overlaps a subnet of another length', () => {
    const ranges = createRanges([['10.1.0.0/16', 8]]);
    for (const cidr of ['10.1.0.0/23', '10.1.2.64/26', '10.1.2.128/26', '192.168.0.0/24'])
      ranges.take(parsePrefix(cidr));
    expect(ranges.allocate()).toBe('10.1.3.0/24');
    ranges.giveBack(parsePrefix('10.1.2.64/26'));
    expect(createRanges([['10.1.0.0/16', 8]], ranges.cursors).allocate()).toBe('10.1.4.0/24');
  });

  test('contains what lies in one of them', () => {
    const ranges = createRanges([['10.1.0.0/16', 8]]);
    expect(
      ['10.1.7.0/24', '10.0.0.0/8', '10.2.0.0/24'].map((cidr) => ranges.contains(parsePrefix(cidr))),
    ).toEqual([true, false, false]);
  });
});

test('subnets never overlap, in whatever order they come and go, with restarts in between', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('allocate' as const) },
    { weight: 2, arbitrary: fc.nat({ max: 30 }) },
    { weight: 1, arbitrary: fc.constantFrom('restart' as const, 'forget' as const) },
  );
  const entries = fc.constantFrom<Entry[]>(
    [['10.0.0.0/20', 6]],
    [
      ['10.0.0.0/20', 9],
      ['10.4.0.0/26', 3],
    ],
    [['10.0.0.0/14', 14]],
  );
  fc.assert(
    fc.property(entries, fc.array(step, { maxLength: 120 }), (shape, steps) => {
      let ranges = createRanges(shape);
      let held: string[] = [];
      for (const each of steps) {
        if (each === 'allocate') {
          const subnet = ranges.allocate();
          if (subnet === undefined) continue;
          expect(held.filter((other) => overlaps(parsePrefix(other), parsePrefix(subnet)))).toEqual([]);
          held.push(subnet);
        } else if (typeof each === 'number') {
          const [released] = held.splice(each % (held.length || 1), 1);
          if (released !== undefined) ranges.giveBack(parsePrefix(released));
        } else {
          ranges = createRanges(shape, each === 'forget' ? {} : ranges.cursors);
          held = held.toReversed();
          for (const subnet of held) ranges.take(parsePrefix(subnet));
        }
      }
    }),
    { numRuns: 50 },
  );
});
