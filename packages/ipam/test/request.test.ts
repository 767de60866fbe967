import { describe, expect, it } from 'vitest';
import { refusal } from './refusal.js';
import { setUp, v4, v6 } from './set-up.js';

describe('requested addresses', () => {
  it('are given, with any address for the other family', () => {
    const { take } = setUp([v4, v6]);
    expect(take('a', { requested: ['10.0.0.9/24'] })).toEqual(['10.0.0.9', 'fd00::1']);
    expect(take('b', { requested: ['FD00::0:7', 'fd00::7'] })).toEqual(['10.0.0.8', 'fd00::7']);
  });

  it('are skipped afterwards, until released, when they go to the end of the queue', () => {
    const { ipam, time, take } = setUp([{ ...v4, blockSize: 28 }]);
    take('a', { requested: ['10.0.0.2'] });
    expect(take('b')).toEqual(['10.0.0.1']);
    ipam.release('a');
    time.now += 10_000;
    expect(take('c')).toEqual(['10.0.0.3']);
    for (let n = 4; n <= 14; n++) expect(take(`n${n}`)).toEqual([`10.0.0.${n}`]);
    expect(take('d')).toEqual(['10.0.0.2']);
  });

  it('in use name the owner', () => {
    const { take } = setUp([v4]);
    take('net,c1,eth0', { requested: ['10.0.0.9'] });
    expect(refusal(() => take('b', { requested: ['10.0.0.9'] }))).toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: '10.0.0.9 of pool blue belongs to net,c1,eth0',
      details: { address: '10.0.0.9', pool: 'blue', owner: 'net,c1,eth0' },
    });
  });

  it('cooling down say until when', () => {
    const { ipam, time, take } = setUp([v4]);
    take('a', { requested: ['10.0.0.9'] });
    ipam.release('a');
    time.now += 2_500;
    expect(refusal(() => take('b', { requested: ['10.0.0.9'] }))).toMatchObject({
      code: 'ADDRESS_IN_USE',
      message:
        '10.0.0.9 of pool blue was released and is cooling down, free in 7.5 s (1970-01-01T00:16:50.000Z)',
      details: { freeAt: 1_010_000 },
    });
    time.now += 7_500;
    expect(take('b', { requested: ['10.0.0.9'] })).toEqual(['10.0.0.9']);
  });

  it.each([
    ['10.0.1.1', {}, '10.0.1.1 cannot be given: it is in no pool (blue (10.0.0.0/28), off (10.2.0.0/24))'],
    ['fd00::1', {}, 'fd00::1 cannot be given: it is in no pool (there is no IPv6 pool)'],
    [
      '::ffff:10.0.0.5',
      {},
      '::ffff:10.0.0.5 cannot be given: it is in no pool (there is no IPv6 pool); for the IPv4 address write 10.0.0.5',
    ],
    [
      '10.0.0.5',
      { pools: ['off'] },
      '10.0.0.5 cannot be given: it is in pool blue, which the request does not allow',
    ],
    ['10.2.0.5', {}, '10.2.0.5 cannot be given: its pool off is disabled'],
    ['10.0.0.0', {}, '10.0.0.0 cannot be given: it is reserved in pool blue'],
    ['10.0.0.15', {}, '10.0.0.15 cannot be given: it is reserved in pool blue'],
    ['10.0.0.6', {}, '10.0.0.6 cannot be given: it is reserved in pool blue'],
  ])('refuses %s with %o', (text, rest, message) => {
    const off = { name: 'off', cidr: '10.2.0.0/24', blockSize: 26, disabled: true };
    const { ipam, take } = setUp([{ ...v4, reserved: ['10.0.0.6/31'] }, off]);
    expect(refusal(() => take('a', { requested: [text], ...rest }))).toMatchObject({
      code: 'ADDRESS_NOT_IN_POOL',
      message,
      details: { address: text },
    });
    expect(ipam.blocks()).toEqual([]);
    expect(ipam.leases()).toEqual([]);
  });

  it.each([
    [{ requested: ['10.0.0'] }, 'requested address: not an IP address: "10.0.0"'],
    [{ requested: ['10.0.0.1/99'] }, 'requested address: 10.0.0.1/99 has a length above 32'],
    [{ requested: ['10.0.0.1', '10.0.0.2'] }, 'two IPv4 addresses are requested: 10.0.0.1 and 10.0.0.2'],
    [{ requested: ['fd00::1'], families: [4] }, 'fd00::1 is requested, but IPv6 is not wanted'],
  ])('refuses %o as malformed', (request, message) => {
    const { take } = setUp([v4, v6]);
    expect(refusal(() => take('a', request))).toMatchObject({ code: 'REQUEST_INVALID', message });
  });

  it('do not use up an address of the other family when they are refused', () => {
    const { take, ipam } = setUp([v4, v6]);
    expect(refusal(() => take('a', { requested: ['fd00::0'] })).code).toBe('ADDRESS_NOT_IN_POOL');
    expect(ipam.leases()).toEqual([]);
    expect(take('b')).toEqual(['10.0.0.1', 'fd00::1']);
  });
});

describe('restriction to pools', () => {
  const pools = [v4, { name: 'green', cidr: '10.1.0.0/24', blockSize: 26 }, v6];

  it('is by name or CIDR, in the order of the pools, and decides the families', () => {
    const { take } = setUp(pools);
    expect(take('a', { pools: ['green'] })).toEqual(['10.1.0.1']);
    expect(take('b', { pools: ['10.1.0.0/24'] })).toEqual(['10.1.0.2']);
    expect(take('c', { pools: ['FD00:0::/124', 'green', 'blue'] })).toEqual(['10.0.0.1', 'fd00::1']);
    expect(take('d', { pools: [] })).toEqual(['10.0.0.2', 'fd00::2']);
  });

  it('refuses unknown pools with the names of all', () => {
    const { take } = setUp(pools);
    expect(refusal(() => take('a', { pools: ['red'] }))).toMatchObject({
      code: 'REQUEST_INVALID',
      message:
        'there is no pool "red"; there are: blue (10.0.0.0/28), green (10.1.0.0/24), blue6 (fd00::/124)',
    });
  });

  it('never falls back on other pools', () => {
    const { take } = setUp(pools);
    for (let i = 0; i < 14; i++) take(`o${i}`, { pools: ['blue'] });
    expect(refusal(() => take('x', { pools: ['blue'] })).details).toMatchObject({
      pools: ['blue (10.0.0.0/28)'],
    });
    expect(refusal(() => take('x', { pools: ['blue'], families: [6] })).code).toBe('POOL_EXHAUSTED');
  });
});
