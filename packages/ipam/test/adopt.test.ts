import { describe, expect, it } from 'vitest';
import { refusal } from './refusal.js';
import { setUp, v4, v6 } from './set-up.js';

describe('adopt', () => {
  const lease = (address: string, owner = 'a', pool = 'blue') => ({ address, owner, pool, since: 7 });

  it('takes over a lease with its time, owns its block and never gives the address away', () => {
    const { ipam, take } = setUp([v4]);
    expect(ipam.adopt(lease('10.0.0.5'))).toBe('pool');
    expect(ipam.leases()).toEqual([lease('10.0.0.5')]);
    expect(ipam.blocks()).toEqual(['10.0.0.4/30']);
    const rest = Array.from({ length: 13 }, (_, i) => take(`o${i}`)[0]);
    expect(rest).not.toContain('10.0.0.5');
    expect(rest.slice(0, 4)).toEqual(['10.0.0.4', '10.0.0.6', '10.0.0.7', '10.0.0.1']);
    expect(refusal(() => take('more')).code).toBe('POOL_EXHAUSTED');
    expect(ipam.release('a')).toEqual([lease('10.0.0.5')]);
  });

  it('is harmless twice, and refuses a second owner', () => {
    const { ipam } = setUp([v4]);
    for (const address of ['10.0.0.5', '192.0.2.1']) {
      const first = ipam.adopt(lease(address));
      expect(ipam.adopt(lease(address))).toBe(first);
      expect(refusal(() => ipam.adopt(lease(address, 'b')))).toMatchObject({
        code: 'ADDRESS_IN_USE',
        message: `${address} of pool blue belongs to a`,
        details: { owner: 'a' },
      });
    }
    expect(ipam.leases()).toHaveLength(2);
  });

  it('keeps what lies in no pool as a foreign lease that can be released', () => {
    const { ipam } = setUp([v4]);
    expect(ipam.adopt(lease('192.0.2.1', 'a', 'gone'))).toBe('foreign');
    expect(ipam.adopt(lease('10.0.0.3'))).toBe('pool');
    expect(ipam.foreignLeases()).toEqual([lease('192.0.2.1', 'a', 'gone')]);
    expect(ipam.leases()).toHaveLength(2);
    expect(ipam.report()[0]).toMatchObject({ used: 1 });
    expect(ipam.release('a')).toHaveLength(2);
    expect(ipam.foreignLeases()).toEqual([]);
    expect(ipam.adopt(lease('192.0.2.1', 'b'))).toBe('foreign');
  });

  it('takes cooling, reserved and disabled addresses too, since they are in use', () => {
    const off = { name: 'off', cidr: '10.2.0.0/24', blockSize: 26, disabled: true };
    const { ipam, take } = setUp([v4, off]);
    take('x');
    ipam.release('x');
    expect(ipam.adopt(lease('10.0.0.1'))).toBe('pool');
    expect(ipam.adopt(lease('10.0.0.0', 'b'))).toBe('pool');
    expect(ipam.adopt(lease('10.2.0.9', 'c'))).toBe('pool');
    expect(ipam.report()[0]).toMatchObject({ used: 2, cooling: 0, reserved: 1n, free: 13n });
    expect(refusal(() => take('d', { requested: ['10.0.0.0'] })).details).toMatchObject({ owner: 'b' });
    ipam.release('b');
    expect(ipam.report()[0]).toMatchObject({ used: 1, cooling: 0, reserved: 2n, free: 13n });
    expect(refusal(() => take('d', { requested: ['10.0.0.0'] })).code).toBe('ADDRESS_NOT_IN_POOL');
  });

  it('names the pool as it is called now, and the address canonically', () => {
    const { ipam } = setUp([v6]);
    ipam.adopt(lease('FD00:0::5', 'a', 'old'));
    expect(ipam.leases()).toEqual([lease('fd00::5', 'a', 'blue6')]);
  });

  it('refuses what is no address', () => {
    const { ipam } = setUp([v4]);
    expect(refusal(() => ipam.adopt(lease('10.0.0.5/32')))).toMatchObject({
      code: 'RECORD_IO',
      message: 'the record of a: not an IP address: "10.0.0.5/32" (a length is not part of an address)',
    });
  });

  it('lets an adopted owner ask again', () => {
    const { ipam, take } = setUp([v4]);
    ipam.adopt(lease('10.0.0.5'));
    ipam.adopt(lease('192.0.2.1', 'b'));
    expect(take('a')).toEqual(['10.0.0.5']);
    expect(take('b')).toEqual(['192.0.2.1']);
    expect(refusal(() => take('b', { pools: ['blue'] })).code).toBe('ENDPOINT_EXISTS');
  });
});
