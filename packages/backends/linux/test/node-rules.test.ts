/** The engine's handling of parameters and sets in the packet filter, beyond making them. */
import { createFakeSystem } from '../src/fake/index.js';
import { createLinuxBackends, type NftElement } from '../src/index.js';
import { createEngine, type Owned } from '@podwire/engine';
import { expect, test } from 'vitest';
import { call } from './call.js';

test('a parameter that is only set at first is the pod’s own afterwards', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  const namespace = system.addPod('/run/netns/pod');
  const key = 'net/ipv4/ip_forward';
  const owned: Owned = {
    owner: 'endpoint:pod',
    namespace,
    resources: [{ kind: 'sysctl', in: 'pod', key, value: '0', initial: true }],
  };
  const { sysctls } = system.enter(namespace);
  sysctls.write(key, '1');
  await engine.apply(owned, call());
  expect(sysctls.read(key)).toBe('0');

  sysctls.write(key, '1');
  expect(await engine.verify(owned, call())).toEqual([]);
  expect(await engine.reconcile([owned], call())).toEqual([]);
  expect(sysctls.read(key)).toBe('1');
});

test('elements of a set that packets fill are no leftovers', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  const body = 'set seen { type inet_service; flags dynamic; }\nset ours { type inet_service; }';
  const node: Owned = {
    owner: 'node',
    resources: [{ kind: 'nft-table', family: 'inet', name: 'podwire', body }],
  };
  await engine.apply(node, call());
  const inTable = { op: 'add', family: 'inet', table: 'podwire' } as const;
  for (const set of ['seen', 'ours'])
    system.nftables.change([{ ...inTable, set, key: [{ type: 'inet_service', value: 80 }] }]);

  const changes = await engine.reconcile([node], call());
  expect(changes.map(({ what }) => what)).toEqual(['element 80 of set ours']);
  expect(system.nftables.listElements('inet', 'podwire', 'seen')).toHaveLength(1);
});

test('a node does not forward before its packet filter stands', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  const node: Owned = {
    owner: 'node',
    resources: [
      { kind: 'nft-table', family: 'inet', name: 'podwire', body: 'chain forward { }' },
      {
        ...{ kind: 'sysctl', in: 'host', key: 'net/ipv4/ip_forward', value: '1' },
        after: ['nft-table inet podwire'],
      },
      { kind: 'route', in: 'host', type: 'blackhole', destination: '10.9.0.0/26' },
    ],
  };
  system.nftables.inject({ method: 'applyTable', code: 'ENOENT' });
  const changes = await engine.reconcile([node], call());
  expect(changes.map(({ action }) => action)).toEqual(['failed', 'failed', 'repaired']);
  expect(system.host.sysctls.read('net/ipv4/ip_forward')).toBe('0');
  await engine.reconcile([node], call());
  expect(system.host.sysctls.read('net/ipv4/ip_forward')).toBe('1');
});

test('no parameter is set behind one that was refused', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  const sysctl = { kind: 'sysctl', in: 'host', value: '1' } as const;
  const keys = ['net/ipv6/conf/none', 'net/ipv6/conf/all/forwarding'];
  const node: Owned = { owner: 'node', resources: keys.map((key) => ({ ...sysctl, key })) };
  await expect(engine.apply(node, call())).rejects.toMatchObject({ code: 'KERNEL_REFUSED' });
  const changes = await engine.reconcile([node], call());
  expect(changes.map(({ action }) => action)).toEqual(['failed', 'failed']);
  expect(system.host.sysctls.read(keys[1]!)).toBe('0');
});

test('an interval takes the place of those of an earlier life that it overlaps', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  const body = 'set pools { type ipv4_addr; flags interval; }';
  const nodeWith = (...prefixes: readonly string[]): Owned => ({
    owner: 'node',
    resources: [
      { kind: 'nft-table', family: 'inet', name: 'podwire', body },
      ...prefixes.map((value): NftElement => ({
        ...{ kind: 'nft-element', family: 'inet', table: 'podwire', set: 'pools' },
        key: [{ type: 'ipv4_interval', value }],
      })),
    ],
  });
  await engine.apply(nodeWith('10.0.0.0/16', '10.1.0.0/16'), call());

  const halves = nodeWith('10.0.0.0/17', '10.0.128.0/17');
  const changes = await engine.reconcile([halves], call());
  expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual([
    'repaired element 10.0.0.0/17 of set pools',
    'repaired element 10.0.128.0/17 of set pools',
    'removed element 10.1.0.0/16 of set pools',
  ]);
  expect(await engine.verify(halves, call())).toEqual([]);
  expect(await engine.reconcile([halves], call())).toEqual([]);
});
