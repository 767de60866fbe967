import { describe, expect, it } from 'vitest';
import { parsePrefix } from '@podwire/addresses';
import { refusal } from './refusal.js';
import { setUp, v4 } from './set-up.js';

describe('an address that is kept for a workload', () => {
  it('is given to no other pod, and to the workload when it asks for it', () => {
    const { ipam, take } = setUp([v4]);
    ipam.keep('10.0.0.1', 'shop/web');
    expect(take('a')).toEqual(['10.0.0.2']);
    expect(refusal(() => take('b', { requested: ['10.0.0.1'] })).message).toBe(
      '10.0.0.1 of pool blue is kept for workload shop/web',
    );
    expect(take('b', { preferred: ['10.0.0.1'], workload: 'shop/other' })).toEqual(['10.0.0.3']);
    expect(take('c', { preferred: ['10.0.0.1'], workload: 'shop/web' })).toEqual(['10.0.0.1']);
  });

  it('is kept again after its lease, and free when it is kept no more', () => {
    const { ipam, time, take } = setUp([v4]);
    for (const owner of ['a', 'b', 'c']) take(owner);
    ipam.keep('10.0.0.1', 'shop/web');
    ipam.release('a');
    time.now += 10_000;
    expect(take('d', { requested: ['10.0.0.1'], workload: 'shop/web' })).toEqual(['10.0.0.1']);
    ipam.release('d');
    time.now += 10_000;
    const others = Array.from({ length: 11 }, (_, i) => take(`o${i}`)[0]);
    expect(others).not.toContain('10.0.0.1');
    expect(refusal(() => take('x')).code).toBe('POOL_EXHAUSTED');
    ipam.keep('10.0.0.1', undefined);
    expect(take('x')).toEqual(['10.0.0.1']);
  });

  it('is lent only to who asks for it', () => {
    const { ipam } = setUp([{ ...v4, blockSize: 31 }]);
    ipam.keep('10.0.0.1', 'shop/web');
    expect(refusal(() => ipam.reserveBorrowed('10.0.0.0/31', 'n2')).code).toBe('POOL_EXHAUSTED');
    expect(ipam.reserveBorrowed('10.0.0.0/31', 'n2', '10.0.0.1')).toEqual({
      address: '10.0.0.1',
      borrower: 'n2',
    });
  });
});

describe('loans', () => {
  it('are not handed out until they come back and have rested', () => {
    const { ipam, time, take } = setUp([v4]);
    take('a');
    expect(ipam.reserveBorrowed('10.0.0.0/30', 'n2')).toEqual({ address: '10.0.0.2', borrower: 'n2' });
    expect(refusal(() => take('b', { requested: ['10.0.0.2'] })).message).toBe(
      '10.0.0.2 of pool blue is lent to node n2',
    );
    expect(refusal(() => ipam.reserveBorrowed('10.0.0.0/30', 'n3', '10.0.0.1')).details).toMatchObject({
      owner: 'a',
    });
    expect(refusal(() => ipam.reserveBorrowed('10.0.0.0/30', 'n3', '10.0.0.0')).code).toBe(
      'ADDRESS_NOT_IN_POOL',
    );
    expect(refusal(() => ipam.reserveBorrowed('10.0.0.0/30', 'n3', '10.0.0.9')).code).toBe(
      'ADDRESS_NOT_IN_POOL',
    );
    expect(refusal(() => ipam.reserveBorrowed('10.9.0.0/30', 'n3')).message).toBe(
      '10.9.0.0/30 is no block of this node',
    );
    ipam.unmarkBorrowed('10.0.0.2');
    expect(take('b')).toEqual(['10.0.0.3']);
    time.now += 10_000;
    expect(take('c')).toEqual(['10.0.0.2']);
    expect(ipam.borrowed()).toEqual([]);
  });

  it('that were made in an earlier life are respected when their block comes, and when a lease ends', () => {
    const { ipam, take, time } = setUp([v4]);
    ipam.markBorrowed({ address: '10.0.0.1', borrower: 'n2' });
    expect(take('a')).toEqual(['10.0.0.2']);
    expect(refusal(() => ipam.markBorrowed({ address: '10.0.0.2', borrower: 'n2' })).details).toMatchObject({
      owner: 'a',
    });
    ipam.release('a');
    time.now += 10_000;
    expect(refusal(() => take('a', { requested: ['10.0.0.2'] })).message).toContain('lent to node n2');
    ipam.unmarkBorrowed('10.0.0.2');
    expect(ipam.adopt({ address: '10.0.0.1', owner: 'x', pool: '', since: 1 })).toBe('foreign');
    ipam.unmarkBorrowed('10.0.0.1');
    expect(ipam.foreignLeases()).toEqual([]);
    expect(refusal(() => take('b', { requested: ['10.0.0.1'] })).details).toMatchObject({ owner: 'x' });
  });

  it('of a block that is lost are forgotten, also where it never came', () => {
    const { ipam, take } = setUp([v4]);
    ipam.markBorrowed({ address: '10.0.0.1', borrower: 'n2' });
    ipam.markBorrowed({ address: '10.0.0.9', borrower: 'n2' });
    expect(take('a')).toEqual(['10.0.0.2']);
    expect(ipam.dropBlock('10.0.0.8/30')).toEqual([]);
    expect(ipam.borrowed()).toEqual([{ address: '10.0.0.1', borrower: 'n2' }]);
    // Around a block that is here: what is lent of that one stays so.
    ipam.dropBlock('10.0.0.0/29');
    expect(ipam.borrowed()).toHaveLength(1);
    ipam.dropBlock('10.0.0.0/30');
    expect(ipam.borrowed()).toEqual([]);
  });

  it('rest after a lease that ended meanwhile, also where pools change and their block is lost and comes again', () => {
    const blockSource = { claim: () => parsePrefix('10.0.0.0/30'), giveBack: () => undefined };
    const { ipam, time, take } = setUp([v4], { blockSource });
    take('a');
    ipam.reserveBorrowed('10.0.0.0/30', 'n2', '10.0.0.2');
    ipam.adopt({ address: '10.0.0.2', owner: 'x', pool: '', since: 1 });
    ipam.release('x');
    ipam.setPools([{ ...v4, reserved: ['10.0.0.14'] }]);
    ipam.dropBlock('10.0.0.0/30');
    expect(take('b')).toEqual(['10.0.0.3']);
    time.now += 10_000;
    expect(take('c')).toEqual(['10.0.0.2']);
  });
});

describe('a borrowed address', () => {
  /** Blocks in the order in which they come. */
  const lending = (cidrs: string[]) => {
    const given: string[] = [];
    const blockSource = {
      claim: () => (cidrs.length === 0 ? undefined : parsePrefix(cidrs.shift()!)),
      giveBack: (_: unknown, { length }: { length: number }) => void given.push(`/${length}`),
    };
    return { given, ...setUp([v4], { blockSource }) };
  };

  it('is used after all whole blocks, and given back as soon as it has rested', () => {
    const { ipam, time, take, given } = lending(['10.0.0.9/32', '10.0.0.4/30']);
    expect(take('a')).toEqual(['10.0.0.9']);
    expect(take('b')).toEqual(['10.0.0.4']);
    ipam.release('a');
    time.now += 10_000;
    expect(take('c')).toEqual(['10.0.0.5']);
    expect(ipam.releaseEmptyBlocks()).toEqual(['10.0.0.9/32']);
    expect(given).toEqual(['/32']);
  });

  it('becomes a part of the block around it', () => {
    const { ipam, take } = lending(['10.0.0.5/32', '10.0.0.4/30']);
    take('a');
    expect(take('b')).toEqual(['10.0.0.4']);
    expect(ipam.blocks()).toEqual(['10.0.0.4/30']);
    expect(take('c')).toEqual(['10.0.0.6']);
    expect(ipam.foreignLeases()).toEqual([]);
    expect(ipam.report()[0]).toMatchObject({ used: 3 });
  });
});

it('pools with a selector are used for no other pod', () => {
  const { take } = setUp([{ ...v4, assignment: 'manual' }]);
  expect(refusal(() => take('a')).message).toContain(
    'no enabled pool has IP addresses; only for who asks for them: blue',
  );
  expect(take('a', { pools: ['blue'] })).toEqual(['10.0.0.1']);
  expect(take('b', { requested: ['10.0.0.7'] })).toEqual(['10.0.0.7']);
});
