import { describe, expect, it } from 'vitest';
import { refusal } from './refusal.js';
import { setUp, v4, v6 } from './set-up.js';

describe('release', () => {
  it('gives back what the owner held, is idempotent and touches no other owner', () => {
    const { ipam } = setUp([v4, v6]);
    const a = ipam.allocate({ owner: 'a' });
    const b = ipam.allocate({ owner: 'b' });
    expect(ipam.release('a')).toEqual(a);
    expect(ipam.release('a')).toEqual([]);
    expect(ipam.release('unknown')).toEqual([]);
    expect(ipam.leases()).toEqual(b);
  });

  it('puts addresses at the end of the queue: the longest free comes first', () => {
    const { ipam, time, take } = setUp([{ name: 'p', cidr: '10.0.0.0/29', blockSize: 29 }], { coolDown: 0 });
    for (let i = 1; i <= 6; i++) take(`o${i}`);
    for (const owner of ['o3', 'o1', 'o5']) {
      ipam.release(owner);
      time.now += 1;
    }
    expect(['x', 'y', 'z'].flatMap((owner) => take(owner))).toEqual(['10.0.0.3', '10.0.0.1', '10.0.0.5']);
  });

  it('prefers the earliest claimed block', () => {
    const { ipam, take } = setUp([v4], { coolDown: 0 });
    for (let i = 1; i <= 14; i++) take(`o${i}`);
    for (const i of [13, 6, 9, 5, 2]) ipam.release(`o${i}`);
    expect(['a', 'b', 'c', 'd', 'e'].flatMap((owner) => take(owner))).toEqual([
      '10.0.0.2',
      '10.0.0.6',
      '10.0.0.5',
      '10.0.0.9',
      '10.0.0.13',
    ]);
  });
});

describe('cool-down', () => {
  const tiny = { name: 'tiny', cidr: '10.0.0.0/30', blockSize: 30 };

  it('is kept to the millisecond, and the refusal has the numbers and the end', () => {
    const { ipam, time, take } = setUp([tiny]);
    take('a');
    take('b');
    ipam.release('a');
    time.now += 4_000;
    ipam.release('b');
    time.now += 5_999;
    expect(refusal(() => take('c'))).toMatchObject({
      code: 'POOL_EXHAUSTED',
      message:
        'no free IPv4 address: pool tiny (10.0.0.0/30) has 4 addresses, 0 used, 2 reserved, 2 cooling, ' +
        'the first free in 0.001 s (1970-01-01T00:16:50.000Z)',
      details: {
        family: 4,
        pools: ['tiny (10.0.0.0/30)'],
        size: 4,
        used: 0,
        reserved: 2,
        cooling: 2,
        freeAt: 1_010_000,
      },
    });
    time.now += 1;
    expect(take('c')).toEqual(['10.0.0.1']);
    expect(ipam.report()[0]).toMatchObject({ used: 1, cooling: 1, free: 0n });
  });

  it('claims a new block rather than to wait', () => {
    const { ipam, take } = setUp([{ ...v4, blockSize: 31 }]);
    take('a');
    ipam.release('a');
    expect(take('b')).toEqual(['10.0.0.2']);
  });

  it('neither ends early nor drags on when the clock is set back', () => {
    const { ipam, time, take } = setUp([tiny]);
    take('a');
    take('b');
    ipam.release('a');
    time.now -= 3_600_000;
    expect(refusal(() => take('c')).details).toMatchObject({ freeAt: time.now + 10_000 });
    time.now += 9_999;
    expect(refusal(() => take('c')).code).toBe('POOL_EXHAUSTED');
    time.now += 1;
    expect(take('c')).toEqual(['10.0.0.1']);
  });

  it('of nothing is none', () => {
    const { ipam, take } = setUp([tiny], { coolDown: 0 });
    take('a');
    take('b');
    ipam.release('b');
    expect(ipam.report()[0]).toMatchObject({ cooling: 0, free: 1n });
    expect(take('c')).toEqual(['10.0.0.2']);
  });
});

describe('releaseEmptyBlocks', () => {
  it('keeps one empty block and everything that is used or cooling', () => {
    const { ipam, time, take } = setUp([v4]);
    for (let i = 1; i <= 14; i++) take(`o${i}`);
    for (let i = 1; i <= 11; i++) ipam.release(`o${i}`);
    expect(ipam.releaseEmptyBlocks()).toEqual([]);
    time.now += 10_000;
    expect(ipam.releaseEmptyBlocks()).toEqual(['10.0.0.4/30', '10.0.0.8/30']);
    expect(ipam.releaseEmptyBlocks()).toEqual([]);
    expect(ipam.blocks()).toEqual(['10.0.0.0/30', '10.0.0.12/30']);
    expect(ipam.report()[0]).toMatchObject({ used: 3, free: 11n });
    expect(['a', 'b', 'c', 'd'].flatMap((owner) => take(owner))).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      '10.0.0.3',
      '10.0.0.4',
    ]);
    expect(ipam.blocks()).toEqual(['10.0.0.0/30', '10.0.0.12/30', '10.0.0.4/30']);
  });

  it('keeps none of a disabled pool', () => {
    const { ipam } = setUp([{ ...v4, disabled: true }], { coolDown: 0 });
    ipam.adopt({ address: '10.0.0.5', owner: 'a', pool: 'blue', since: 0 });
    ipam.release('a');
    expect(ipam.releaseEmptyBlocks()).toEqual(['10.0.0.4/30']);
    expect(ipam.blocks()).toEqual([]);
  });
});
