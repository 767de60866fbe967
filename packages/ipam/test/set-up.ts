import { createIpam, type IpamOptions, type PoolSpec } from '@podwire/ipam';

export const v4: PoolSpec = { name: 'blue', cidr: '10.0.0.0/28', blockSize: 30 };
export const v6: PoolSpec = { name: 'blue6', cidr: 'fd00::/124', blockSize: 126 };

/** An IPAM with a clock that the test moves, and a short way to take addresses. */
export function setUp(pools: readonly PoolSpec[], options: Partial<IpamOptions> = {}) {
  const time = { now: 1_000_000 };
  const ipam = createIpam({ pools, clock: () => time.now, coolDown: 10_000, ...options });
  const take = (owner: string, rest: object = {}): string[] =>
    ipam.allocate({ owner, ...rest }).map((lease) => lease.address);
  return { ipam, time, take };
}
