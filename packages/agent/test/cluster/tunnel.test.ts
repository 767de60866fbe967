import { createIpam, type PoolSpec } from '@podwire/ipam';
import { describe, expect, test } from 'vitest';
import { adoptTunnel, chooseTunnel, tunnelOwners } from '../../src/cluster/tunnel.js';
import { networkModels } from '../../src/models.js';
import type { Network } from '../../src/networks.js';

type TestPool = PoolSpec & { readonly encapsulation: 'direct' | 'vxlan' };

/** A network whose node owns every block of the pools that are not in `dry`. */
function createNetwork(pools: readonly TestPool[], dry: readonly string[] = []): Network {
  const ipam = createIpam({
    pools,
    clock: () => 5,
    coolDown: 60_000,
    blockSource: {
      claim: (pool) => (dry.includes(pool.name) ? undefined : { ...pool.prefix, length: pool.blockSize }),
      giveBack: () => undefined,
    },
  });
  const views = pools.map(({ name, cidr, encapsulation }) => ({
    name,
    cidr,
    encapsulation,
    natOutgoing: true,
  }));
  const [model] = networkModels;
  return { view: { name: 'default', pools: views }, model, pools, ipam } as unknown as Network;
}

const pool = (name: string, cidr: string, more: Partial<TestPool> = {}): TestPool => ({
  name,
  cidr,
  blockSize: 26,
  encapsulation: 'vxlan',
  ...more,
});
const first = pool('first', '10.244.0.0/26', { disabled: true });
const second = pool('second', '10.50.0.0/26');
const own = ['10.244.0.0/26', '10.50.0.0/26'];

function choose(pools: readonly TestPool[], dry: readonly string[] = []) {
  const network = createNetwork(pools, dry);
  adoptTunnel([network], { ipv4: '10.244.0.7' }, 5);
  const outcome = chooseTunnel([network], { ipv4: '10.244.0.7' }, { own, families: [4, 6] });
  const leases = network.ipam.leases().filter(({ owner }) => owner === tunnelOwners[4]);
  return { ...outcome, leases: leases.map(({ address }) => address) };
}

describe("the node's end of tunnels", () => {
  test('stays where it is', () => {
    const { tunnel, needs, leases } = choose([{ ...first, disabled: false }, second]);
    expect([tunnel, needs, leases]).toEqual([{ ipv4: '10.244.0.7' }, [], ['10.244.0.7']]);
  });

  test('leaves a pool that is being emptied', () => {
    const { tunnel, leases } = choose([first, second]);
    expect(tunnel.ipv4).toMatch(/^10\.50\.0\./);
    expect(leases).toEqual([tunnel.ipv4]);
  });

  test('stays there until another pool has a place for it', () => {
    const { tunnel, needs, leases } = choose([first, second], ['second']);
    expect(tunnel).toEqual({ ipv4: '10.244.0.7' });
    expect(needs).toEqual([{ network: 'default', families: [4], pools: ['second'] }]);
    expect(leases).toEqual(['10.244.0.7']);
  });

  test('stays there when there is no other pool', () => {
    for (const pools of [[first], [first, { ...second, disabled: true }]]) {
      expect(choose(pools)).toEqual({ tunnel: { ipv4: '10.244.0.7' }, needs: [], leases: ['10.244.0.7'] });
    }
  });

  test('is none of a family that the node does not speak', () => {
    const network = createNetwork([pool('v6', 'fd00:1::/122', { blockSize: 122 })]);
    const none = { tunnel: {}, needs: [] };
    expect(chooseTunnel([network], {}, { own: ['fd00:1::/122'], families: [4] })).toEqual(none);
    expect(network.ipam.leases()).toEqual([]);
  });
});
