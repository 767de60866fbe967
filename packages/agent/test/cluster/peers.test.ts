import { createLinuxBackends } from '@podwire/backend-linux';
import { DesiredState } from '@podwire/desired-state';
import { createEngine } from '@podwire/engine';
import { createFakeSystem } from '@podwire/backend-linux/fake';
import { listRoutes } from '@podwire/netlink';
import type { NodeView } from '@podwire/network-contract';
import { silentLog } from '@podwire/platform';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPeerJournal } from '../../src/cluster/peer-journal.js';
import { Peers } from '../../src/cluster/peers.js';
import { networkModels } from '../../src/models.js';
import { nodeDerivations } from '../../src/node/node-plan.js';
import { createMemoryFiles } from '../fakes/cluster.js';
import { blockCount, type Happening, makeUplink, nodeCount, PeerWorld } from '../fakes/peer-world.js';

const node = fc.integer({ min: 0, max: nodeCount - 1 });
const peer = fc.integer({ min: 1, max: nodeCount - 1 });
const block = fc.integer({ min: 0, max: blockCount - 1 });

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    kind: fc.constant('move-block' as const),
    block,
    to: fc.integer({ min: -1, max: nodeCount - 1 }),
  }),
  fc.record({ kind: fc.constant('split-block' as const), block }),
  fc.record({
    kind: fc.constant('lend' as const),
    block,
    address: fc.integer({ min: 10, max: 11 }),
    to: fc.integer({ min: -1, max: nodeCount - 1 }),
  }),
  fc.record({ kind: fc.constant('readdress' as const), node: peer, place: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ kind: fc.constant('retunnel' as const), node, block }),
  fc.record({ kind: fc.constant('come-or-go' as const), node: peer }),
  fc.record({
    kind: fc.constant('encapsulate' as const),
    how: fc.constantFrom('direct' as const, 'vxlan' as const, 'vxlan-cross-subnet' as const),
  }),
  { arbitrary: fc.record({ kind: fc.constant('settle' as const), calls: fc.constant(Infinity) }), weight: 4 },
  fc.record({ kind: fc.constant('settle' as const), calls: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ kind: fc.constant('reconcile' as const) }),
  fc.record({ kind: fc.constant('restart' as const) }),
);

async function follow(happenings: readonly Happening[]): Promise<void> {
  const world = new PeerWorld(createFakeSystem());
  await world.start();
  for (const each of happenings) await world.happen(each);
  await world.settle();
  expect(world.picture()).toEqual(await world.makeAfresh(createFakeSystem()));
  expect(await world.drift()).toEqual([]);
  await world.close();
}

test('whatever happens in the cluster: the kernel has in the end what one reconcile makes from nothing', async () => {
  await fc.assert(fc.asyncProperty(fc.array(happening, { maxLength: 25 }), follow), { numRuns: 60 });
});

const settled: Happening = { kind: 'settle', calls: Infinity };
const interrupted: Happening = { kind: 'settle', calls: 1 };

test('a peer that is forgotten leaves its address to the one that was given it', async () => {
  await follow([{ kind: 'readdress', node: 2, place: 1 }, settled, { kind: 'come-or-go', node: 1 }]);
});

test('a peer that gets another address leaves its old one to the one that was given it', async () => {
  await follow([
    { kind: 'readdress', node: 2, place: 1 },
    settled,
    { kind: 'readdress', node: 1, place: 2 },
    settled,
  ]);
});

test('what an interrupted change has taken away comes back when it is wanted again', async () => {
  await follow([
    { kind: 'move-block', block: 1, to: 1 },
    { kind: 'retunnel', node: 1, block: 1 },
    settled,
    { kind: 'move-block', block: 1, to: 2 },
    { kind: 'retunnel', node: 2, block: 1 },
    interrupted,
    { kind: 'move-block', block: 1, to: 1 },
    { kind: 'retunnel', node: 1, block: 1 },
  ]);
});

test('a block that was split leaves no route behind, also when that was interrupted', async () => {
  await follow([
    { kind: 'move-block', block: 4, to: 0 },
    settled,
    { kind: 'split-block', block: 4 },
    { kind: 'settle', calls: 0 },
  ]);
});

test('a block goes from one peer to another also when they travel apart', async () => {
  const system = createFakeSystem();
  const engine = createEngine({ backends: createLinuxBackends(system) });
  makeUplink(system.host.route);
  const owners = new Map([['n999', ['10.244.1.0/26']]]);
  const desired = new DesiredState({ kinds: engine.kinds, log: silentLog });
  desired.register({
    kind: 'node',
    plan: () => [],
    ownerOf: () => 'node',
    sources: { sides: () => [{ model: networkModels[0], view: directNode }] },
    derivations: nodeDerivations,
  });
  const peers = new Peers({
    desired,
    viewOf: (name) => ({
      name,
      ipv4: `192.0.2.${name === 'n999' ? 3 : 2}/24`,
      blocks: owners.get(name) ?? [],
    }),
    isSynced: () => true,
    onKnown: () => undefined,
    journal: openPeerJournal(createMemoryFiles(), 'own', silentLog),
    log: silentLog,
  });
  const options = { signal: new AbortController().signal };
  for (let number = 100; number < 1000; number++) peers.markChanged(`n${number}`);
  await peers.flush(engine, options);
  owners.delete('n999');
  owners.set('n100', ['10.244.1.0/26']);
  for (let number = 100; number < 1000; number++) peers.markChanged(`n${number}`);
  await peers.flush(engine, options);
  expect(listRoutes(system.host.route, { protocol: 157 })).toMatchObject([{ gateway: '192.0.2.2' }]);
  expect(peers.problemOf('n100')).toBeUndefined();
  await engine.close();
});

const directNode: NodeView = {
  name: 'n0',
  network: {
    name: 'default',
    model: 'routed',
    pools: [{ name: 'four', cidr: '10.244.0.0/16', natOutgoing: false }],
  },
  blocks: [],
  mtu: 1500,
  ipv4: true,
  ipv6: false,
  underlay: { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24' },
};
