import { describe, expect, it } from 'vitest';
import { parsePrefix } from '@podwire/addresses';
import { createLocalBlockSource } from '@podwire/ipam';
import { refusal } from './refusal.js';
import { setUp, v4 } from './set-up.js';

describe('a block source', () => {
  it('decides which blocks the node owns', () => {
    const local = createLocalBlockSource();
    const given: string[] = [];
    let permits = 1;
    const { ipam, take, time } = setUp([v4], {
      blockSource: {
        claim: (pool, holding) => (permits-- > 0 ? local.claim(pool, holding) : undefined),
        giveBack: (pool, block, inUse) => {
          given.push(`${pool.name} ${block.length}`);
          local.giveBack(pool, block, inUse);
        },
      },
    });
    for (const owner of ['a', 'b', 'c']) take(owner);
    expect(refusal(() => take('d')).message).toBe(
      'no free IPv4 address: pool blue (10.0.0.0/28) has 16 addresses, 3 used, 2 reserved, 0 cooling, ' +
        '11 in blocks that this node cannot have',
    );
    expect(refusal(() => take('d', { requested: ['10.0.0.9'] }))).toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: '10.0.0.9 of pool blue is in a block of another node',
    });
    // A record of a pod whose block another node has taken: tracked, and respected when the block comes back.
    expect(ipam.adopt({ address: '10.0.0.4', pool: 'blue', owner: 'x', since: 1 })).toBe('foreign');
    permits = 1;
    expect(take('d')).toEqual(['10.0.0.5']);
    expect(ipam.foreignLeases()).toEqual([]);
    expect(ipam.leases().map((lease) => lease.owner)).toEqual(['a', 'b', 'c', 'x', 'd']);
    expect(refusal(() => take('e', { requested: ['10.0.0.4'] })).details).toMatchObject({ owner: 'x' });
    for (const owner of ['a', 'b', 'c', 'x', 'd']) ipam.release(owner);
    time.now += 10_000;
    expect(ipam.releaseEmptyBlocks()).toEqual(['10.0.0.4/30']);
    expect(given).toEqual(['blue 30']);
  });

  it.each(['10.7.0.0/30', '10.0.0.0/27', 'fd00::/126'])(
    'that gives the wrong block %s is found out',
    (cidr) => {
      const { take } = setUp([v4], {
        blockSource: { claim: () => parsePrefix(cidr), giveBack: () => undefined },
      });
      expect(refusal(() => take('a')).code).toBe('INTERNAL');
    },
  );

  it('that gives one block twice is found out', () => {
    const { take } = setUp([{ ...v4, blockSize: 31 }], {
      blockSource: { claim: () => parsePrefix('10.0.0.2/31'), giveBack: () => undefined },
    });
    take('a');
    take('b');
    expect(refusal(() => take('c')).code).toBe('INTERNAL');
  });
});
