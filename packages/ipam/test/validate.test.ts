import { describe, expect, it } from 'vitest';
import { defaultBlockSize, findOverlaps, type PoolSpec, validatePools } from '@podwire/ipam';

const good: PoolSpec = { name: 'a', cidr: '10.244.0.0/16', blockSize: 26 };
const good6: PoolSpec = { name: 'b', cidr: 'fd00:244::/48', blockSize: 122 };

const problemsOf = (...pools: PoolSpec[]): string[] =>
  validatePools(pools).map(({ path, message }) => `${path}: ${message}`);

it('finds nothing wrong with usable pools', () => {
  expect(
    problemsOf(
      { ...good, reserved: ['10.244.0.0/24', '10.244.1.1', '10.244.255.0/24'] },
      good6,
      { name: 'one block', cidr: '192.168.0.0/28', blockSize: 28 },
      { name: '240.0.0.0/5', cidr: '240.0.0.0/5', blockSize: 20 },
      { name: 'small', cidr: '2001:db8::1/128', blockSize: 128, disabled: true },
    ),
  ).toEqual([]);
  expect(problemsOf()).toEqual([]);
  expect([defaultBlockSize(4), defaultBlockSize(6)]).toEqual([26, 122]);
});

describe('a single pool', () => {
  it.each([
    [{ name: ' ' }, 'pools[0].name: is empty'],
    [{ cidr: '10.244.0.0' }, 'pools[0].cidr: not a prefix (ADDRESS/LENGTH): "10.244.0.0"'],
    [
      { cidr: '10.244.0.1/16' },
      'pools[0].cidr: 10.244.0.1/16 has bits set beyond its length; the prefix is 10.244.0.0/16',
    ],
    [{ blockSize: 19 }, 'pools[0].blockSize: 19 is not between 20 and 32 (IPv4)'],
    [{ blockSize: 33 }, 'pools[0].blockSize: 33 is not between 20 and 32 (IPv4)'],
    [{ blockSize: 26.5 }, 'pools[0].blockSize: 26.5 is not between 20 and 32 (IPv4)'],
    [{ cidr: 'fd00::/48' }, 'pools[0].blockSize: 26 is not between 116 and 128 (IPv6)'],
    [{ cidr: 'fd00::/48', blockSize: 115 }, 'pools[0].blockSize: 115 is not between 116 and 128 (IPv6)'],
    [{ cidr: 'fd00::/48', blockSize: 129 }, 'pools[0].blockSize: 129 is not between 116 and 128 (IPv6)'],
    [
      { cidr: '10.0.0.0/28' },
      'pools[0].blockSize: 26 is shorter than the pool 10.0.0.0/28; a block is a part of its pool, or all of it',
    ],
    [{ reserved: ['10.244.0.0/16'] }, /^pools\[0\]\.reserved\[0\]: .* leaves nothing of/],
    [{ reserved: ['10.0.0.0/8'] }, /^pools\[0\]\.reserved\[0\]: .* leaves nothing of/],
    [{ reserved: ['10.244.1.1', '10.245.0.1'] }, 'pools[0].reserved[1]: 10.245.0.1 is not in 10.244.0.0/16'],
    [{ reserved: ['fd00::1'] }, 'pools[0].reserved[0]: fd00::1 is not in 10.244.0.0/16'],
    [{ reserved: ['10.244.1'] }, 'pools[0].reserved[0]: not an IP address: "10.244.1"'],
    [{ reserved: ['10.244.1.1/24'] }, /^pools\[0\]\.reserved\[0\]: .* has bits set beyond/],
  ])('with %o', (change, problem) => {
    const problems = problemsOf({ ...good, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  });

  it.each([
    ['127.0.0.0/8', 'loopback'],
    ['127.1.0.0/16', 'loopback'],
    ['126.0.0.0/7', 'loopback'],
    ['169.254.0.0/16', 'link-local'],
    ['224.0.0.0/4', 'multicast'],
    ['239.1.0.0/16', 'multicast'],
    ['0.0.0.0/8', 'this host'],
    ['255.255.255.0/24', 'limited broadcast'],
    ['::/0', 'multicast'],
    ['::ffff:10.0.0.0/104', 'IPv4 embedded'],
    ['fe80::/64', 'link-local'],
    ['ff02::/16', 'multicast'],
  ])('in %s is refused: %s', (cidr, kind) => {
    const problems = problemsOf({ name: 'a', cidr, blockSize: cidr.includes(':') ? 122 : 26 });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`pools[0].cidr: ${cidr} has `);
    expect(problems[0]).toContain(kind);
  });
});

describe('several pools', () => {
  it('must not overlap', () => {
    const overlapping = { name: 'c', cidr: '10.244.8.0/24', blockSize: 26 };
    expect(problemsOf(good, good6, overlapping, { ...overlapping, name: 'd' })).toEqual([
      'pools[2].cidr: 10.244.8.0/24 overlaps 10.244.0.0/16 (pools[0].cidr)',
      'pools[3].cidr: 10.244.8.0/24 overlaps 10.244.0.0/16 (pools[0].cidr)',
      'pools[3].cidr: 10.244.8.0/24 overlaps 10.244.8.0/24 (pools[2].cidr)',
    ]);
  });

  it('must have names that mean one pool', () => {
    expect(problemsOf(good, { ...good6, name: 'a' })).toEqual([
      'pools[1].name: "a" is the name of pools[0] too',
    ]);
    expect(problemsOf({ ...good, name: 'fd00:244::/48' }, good6)).toEqual([
      'pools[0].name: "fd00:244::/48" is the CIDR of pools[1]',
    ]);
  });

  it('have all their problems listed at once, with the paths of the caller', () => {
    const broken = { name: '', cidr: '127.0.0.0/8', blockSize: 1, reserved: ['x'] };
    expect(validatePools([good, broken], (i) => `networks[3].pools[${i}]`).map(({ path }) => path)).toEqual([
      'networks[3].pools[1].name',
      'networks[3].pools[1].cidr',
      'networks[3].pools[1].blockSize',
      'networks[3].pools[1].reserved[0]',
    ]);
  });

  it('can be compared over networks', () => {
    expect(
      findOverlaps([
        { path: 'x', cidr: '10.0.0.0/8' },
        { path: 'y', cidr: 'nonsense' },
        { path: 'z', cidr: '10.1.0.0/16' },
        { path: 'w', cidr: '11.0.0.0/16' },
      ]),
    ).toEqual([{ path: 'z', message: '10.1.0.0/16 overlaps 10.0.0.0/8 (x)' }]);
  });
});
