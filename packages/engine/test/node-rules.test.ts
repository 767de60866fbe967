/** What the engine does with parameters and sets in the packet filter beyond making them so. */
import { expect, test } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { createEngine, type Owned } from '../src/index.js';
import { call } from './call.js';

test('a parameter that is only set at first is the pod’s own afterwards', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ kernel: system });
  const namespace = system.addPod('/run/netns/pod');
  const key = 'net/ipv4/ip_forward';
  const owned: Owned = {
    owner: 'endpoint:pod',
    namespace,
    resources: [{ kind: 'sysctl', in: 'pod', key, value: '0', initial: true }],
  };
  const { parameters } = system.enter(namespace);
  parameters.write(key, '1');
  await engine.apply(owned, call());
  expect(parameters.read(key)).toBe('0');

  parameters.write(key, '1');
  expect(await engine.verify(owned, call())).toEqual([]);
  expect(await engine.reconcile([owned], call())).toEqual([]);
  expect(parameters.read(key)).toBe('1');
});

test('elements of a set that packets fill are no leftovers', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ kernel: system });
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
