/** How fast addresses are handed out in memory: no pod, no kernel, no store. */
import { createIpam } from '@podwire/ipam';

export interface IpamRate {
  /** Addresses held while it is measured. */
  readonly held: number;
  /** One address each, allocated and released in turn. */
  readonly allocationsPerSecond: number;
}

/** @param rounds allocations, each with a release */
export function measureIpamRate(rounds = 400_000, held = 4_000): IpamRate {
  const ipam = createIpam({
    pools: [{ name: 'all', cidr: '10.0.0.0/12', blockSize: 26 }],
    coolDown: 0,
    clock: () => Date.now(),
  });
  for (let pod = 0; pod < held; pod++) ipam.allocate({ owner: `held,${pod},eth0` });
  const turn = (from: number, to: number): number => {
    const begin = performance.now();
    for (let pod = from; pod < to; pod++) {
      const owner = `bench,${pod},eth0`;
      ipam.allocate({ owner });
      ipam.release(owner);
    }
    return performance.now() - begin;
  };
  turn(0, rounds / 10); // to warm up
  return { held, allocationsPerSecond: (rounds * 1_000) / turn(0, rounds) };
}
