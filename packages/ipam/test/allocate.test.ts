import { describe, expect, it } from 'vitest';
import { createIpam } from '@podwire/ipam';
import { refusal } from './refusal.js';
import { setUp, v4, v6 } from './set-up.js';

describe('allocate', () => {
  it('gives one address of each family, with pool, owner and time', () => {
    const { ipam } = setUp([v4, v6]);
    expect(ipam.allocate({ owner: 'a' })).toEqual([
      { address: '10.0.0.1', pool: 'blue', owner: 'a', since: 1_000_000 },
      { address: 'fd00::1', pool: 'blue6', owner: 'a', since: 1_000_000 },
    ]);
    expect(ipam.leases()).toHaveLength(2);
  });

  it('leaves out the first and the last address of a pool, but not of its blocks', () => {
    const { take } = setUp([v4]);
    const all = Array.from({ length: 14 }, (_, i) => take(`o${i}`)[0]);
    expect(all).toEqual(Array.from({ length: 14 }, (_, i) => `10.0.0.${i + 1}`));
    expect(refusal(() => take('more')).code).toBe('POOL_EXHAUSTED');
  });

  it.each([
    [{ name: 'p', cidr: '10.0.0.4/31', blockSize: 31 }, ['10.0.0.4', '10.0.0.5']],
    [{ name: 'p', cidr: '10.0.0.4/32', blockSize: 32 }, ['10.0.0.4']],
    [{ name: 'p', cidr: '10.0.0.4/30', blockSize: 32 }, ['10.0.0.5', '10.0.0.6']],
    [{ name: 'p', cidr: 'fd00::4/127', blockSize: 128 }, ['fd00::4', 'fd00::5']],
    [{ name: 'p', cidr: 'fd00::4/126', blockSize: 126 }, ['fd00::5', 'fd00::6', 'fd00::7']],
  ])('hands out what conventions allow of %o', (pool, expected) => {
    const { ipam, take } = setUp([pool]);
    expect(expected.map((_, i) => take(`o${i}`)[0])).toEqual(expected);
    expect(refusal(() => take('more')).code).toBe('POOL_EXHAUSTED');
    expect(ipam.report()[0]!.free).toBe(0n);
  });

  it('claims blocks when they are needed, in order, and lists them', () => {
    const { ipam, take } = setUp([v4, v6]);
    expect(ipam.blocks()).toEqual([]);
    for (let i = 0; i < 4; i++) take(`o${i}`, { families: [4] });
    take('six', { families: [6] });
    expect(ipam.blocks()).toEqual(['10.0.0.0/30', '10.0.0.4/30', 'fd00::/126']);
    const before = ipam.blocks();
    take('again', { families: [4] });
    expect(ipam.blocks()).toBe(before);
  });

  it('tries pools in order and passes over disabled ones', () => {
    const pools = [
      { name: 'off', cidr: '10.9.0.0/24', blockSize: 26, disabled: true },
      { name: 'tiny', cidr: '10.0.0.0/32', blockSize: 32 },
      { name: 'big', cidr: '10.1.0.0/16', blockSize: 26 },
    ];
    const { take } = setUp(pools);
    expect([take('a'), take('b'), take('c')].flat()).toEqual(['10.0.0.0', '10.1.0.1', '10.1.0.2']);
  });

  it('skips reserved addresses, and whole blocks and very long stretches of them', () => {
    const reserved = ['10.0.0.0/9', '10.128.0.0/30', '10.128.0.5', '10.128.0.64/26'];
    const { take, ipam } = setUp([{ name: 'p', cidr: '10.0.0.0/8', blockSize: 29, reserved }]);
    expect([take('a'), take('b'), take('c')].flat()).toEqual(['10.128.0.4', '10.128.0.6', '10.128.0.7']);
    expect(ipam.blocks()).toEqual(['10.128.0.0/29']);
    expect(ipam.report()[0]).toMatchObject({ reserved: (1n << 23n) + 4n + 1n + 64n + 1n });
  });

  it('never claims a block that several reserved ranges cover together', () => {
    const reserved = ['10.0.0.6/31', '10.0.0.4', '10.0.0.5', '10.0.0.0/30', '10.0.0.1'];
    const { take, ipam } = setUp([{ ...v4, reserved }]);
    expect(take('a')).toEqual(['10.0.0.8']);
    expect(ipam.blocks()).toEqual(['10.0.0.8/30']);
    expect(ipam.report()[0]!.reserved).toBe(9n);
  });

  it('skips what others have of the pool, and says to those who ask for it who that is', () => {
    const taken = [
      { cidr: '10.0.0.1/32', why: '10.0.0.1 is an address of eth0' },
      { cidr: '10.0.0.4/30', why: 'eth1 is in 10.0.0.4/30' },
      { cidr: '192.0.2.0/24', why: 'it lies in another pool' },
    ];
    const { take, ipam } = setUp([{ ...v4, taken }]);
    expect([take('a'), take('b'), take('c')].flat()).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.8']);
    expect(() => take('d', { requested: ['10.0.0.1'] })).toThrow(
      '10.0.0.1 cannot be given: 10.0.0.1 is an address of eth0',
    );
    expect(ipam.report()[0]).toMatchObject({ used: 3, reserved: 7n });
  });

  it('keeps a pod whose address something else has got, and gives it to no other', () => {
    const { take, ipam } = setUp([v4], { coolDown: 0 });
    expect(take('a')).toEqual(['10.0.0.1']);
    ipam.setPools([{ ...v4, taken: [{ cidr: '10.0.0.1/32', why: '10.0.0.1 is an address of eth0' }] }]);
    expect(take('a')).toEqual(['10.0.0.1']);
    ipam.release('a');
    expect([take('b'), take('c')].flat()).toEqual(['10.0.0.2', '10.0.0.3']);
    ipam.setPools([v4]);
    expect(() => take('d', { requested: ['10.0.0.1'] })).not.toThrow();
  });

  it('says of a pool of which nothing is left who has it', () => {
    const { take } = setUp([{ ...v4, taken: [{ cidr: v4.cidr, why: 'eth0 is in 10.0.0.0/28' }] }]);
    expect(() => take('a')).toThrow(/16 reserved.*\(eth0 is in 10\.0\.0\.0\/28\)/);
  });

  it('handles pools that no memory could hold', () => {
    const { take, ipam } = setUp([
      { name: 'a', cidr: '10.0.0.0/8', blockSize: 26 },
      { name: 'b', cidr: 'fd00:244::/48', blockSize: 122 },
    ]);
    for (let i = 0; i < 100; i++) take(`o${i}`);
    expect(take('x', { requested: ['10.255.255.254', 'fd00:244:0:ffff:ffff:ffff:ffff:ffff'] })).toHaveLength(
      2,
    );
    expect(ipam.blocks()).toEqual([
      '10.0.0.0/26',
      'fd00:244::/122',
      '10.0.0.64/26',
      'fd00:244::40/122',
      '10.255.255.192/26',
      'fd00:244:0:ffff:ffff:ffff:ffff:ffc0/122',
    ]);
    expect(ipam.report()[1]!.free).toBe((1n << 80n) - 1n - 101n);
  });

  it('is all or nothing over families', () => {
    const { ipam, take } = setUp([v4, { ...v6, cidr: 'fd00::1/128', blockSize: 128 }]);
    take('a');
    const error = refusal(() => take('b'));
    expect(error.code).toBe('POOL_EXHAUSTED');
    expect(error.message).toContain('no free IPv6 address');
    expect(ipam.leases()).toHaveLength(2);
    expect(take('c', { families: [4] })).toEqual(['10.0.0.2']);
  });

  it('gives only the families that are asked for, and never none in silence', () => {
    const { take } = setUp([v4, v6]);
    expect(take('a', { families: [6] })).toEqual(['fd00::1']);
    expect(take('b', { families: [6, 4, 6] })).toEqual(['10.0.0.1', 'fd00::2']);
    expect(refusal(() => take('c', { families: [] })).code).toBe('REQUEST_INVALID');
    expect(refusal(() => take('', {})).code).toBe('REQUEST_INVALID');
    const only4 = setUp([v4, { ...v6, disabled: true }]);
    expect(only4.take('a')).toEqual(['10.0.0.1']);
    const error = refusal(() => only4.take('b', { families: [4, 6] }));
    expect(error).toMatchObject({
      code: 'POOL_EXHAUSTED',
      message: 'no free IPv6 address: no enabled pool has IPv6 addresses; disabled: blue6 (fd00::/124)',
    });
    expect(refusal(() => setUp([]).take('a')).message).toBe(
      'no free IP address: no enabled pool has IP addresses',
    );
  });
});

describe('allocate for an owner that holds leases', () => {
  it('gives the same leases again when they answer the request', () => {
    const { ipam, time } = setUp([v4, v6]);
    const first = ipam.allocate({ owner: 'a' });
    time.now += 5;
    expect(ipam.allocate({ owner: 'a' })).toEqual(first);
    expect(ipam.allocate({ owner: 'a', families: [6, 4], pools: ['blue', 'blue6'] })).toEqual(first);
    expect(ipam.allocate({ owner: 'a', requested: ['fd00::1/64'] })).toEqual(first);
    expect(ipam.leases()).toEqual(first);
  });

  it.each([
    { families: [4] as const },
    { requested: ['10.0.0.2'] },
    { requested: ['fd00::1', '10.0.0.2'] },
    { pools: ['blue'] },
  ])('refuses %o, which they do not answer', (request) => {
    const { ipam } = setUp([v4, v6]);
    ipam.allocate({ owner: 'a' });
    expect(refusal(() => ipam.allocate({ owner: 'a', ...request }))).toMatchObject({
      code: 'ENDPOINT_EXISTS',
      message: 'a holds 10.0.0.1 and fd00::1 already, which is not what is asked for now',
      details: { owner: 'a', addresses: ['10.0.0.1', 'fd00::1'] },
    });
    expect(ipam.leases()).toHaveLength(2);
  });
});

it('reports every block', () => {
  const { ipam, take } = setUp([{ ...v4, reserved: ['10.0.0.1'] }, v6]);
  for (let i = 0; i < 4; i++) take(`o${i}`, { families: [4] });
  ipam.release('o1');
  expect(ipam.report()).toEqual([
    {
      name: 'blue',
      cidr: '10.0.0.0/28',
      size: 16n,
      used: 3,
      cooling: 1,
      reserved: 3n,
      lent: 0,
      free: 9n,
      blocks: [
        { cidr: '10.0.0.0/30', used: 1, free: 0, cooling: 1, reserved: 2, lent: 0 },
        { cidr: '10.0.0.4/30', used: 2, free: 2, cooling: 0, reserved: 0, lent: 0 },
      ],
    },
    {
      name: 'blue6',
      cidr: 'fd00::/124',
      size: 16n,
      used: 0,
      cooling: 0,
      reserved: 1n,
      lent: 0,
      free: 15n,
      blocks: [],
    },
  ]);
});

it('refuses to start with pools or a cool-down that cannot be used, naming all problems', () => {
  const pools = [v4, { ...v4, blockSize: 19 }];
  for (const coolDown of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const error = refusal(() => createIpam({ pools, clock: () => 0, coolDown }));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.details.problems).toHaveLength(4);
    expect(error.message).toContain('pools[1].blockSize: 19 is not between 20 and 32');
    expect(error.message).toContain(`coolDown: ${coolDown} is no number of milliseconds`);
  }
});
