/** Each class of fault that others can cause leads to whom it concerns, is repaired by one reconcile, and is heard no more then. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Changes, createEngine, type Engine, type Owned, TouchIndex } from '@podwire/engine';
import {
  createPrivateHost,
  type PrivateHost,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
} from '@podwire/testkit';
import { nodeResources } from '../src/fake/index.js';
import { createLinuxBackends, createUplinkBackend, openKernel } from '../src/index.js';
import { call, endpointOf } from './fixture.js';
import { peerOf, tunnel, tunnelResources } from './tunnel-resources.js';
import { makeUnderlay } from './tunnels.js';

const node: Owned = { owner: 'node', resources: [...nodeResources, ...tunnelResources()] };
const withoutElements = (owned: Owned): Owned => ({
  ...owned,
  resources: owned.resources.filter(({ kind }) => kind !== 'nft-element'),
});
const uplink: Owned = {
  owner: 'uplink',
  resources: [{ kind: 'uplink-moved', in: 'host', from: 'eth3', to: 'br1' }],
};
const peers = [peerOf(12), peerOf(13)].map(withoutElements);
const vx = tunnel.name;
const mac = '66:00:00:00:00:0c';

let host: PrivateHost;
let engine: Engine;
let index: TouchIndex;
let feeds: { readonly place: string; readonly changes: Changes }[] = [];
let owners: readonly Owned[];

before(async () => {
  host = await createPrivateHost({ name: 'hints' });
  const kernel = openKernel(host.namespace);
  makeUnderlay(kernel.host.route);
  await host.namespace.ip(
    'link add br0 address 02:00:00:00:01:00 type bridge',
    'link add eth1 type ifb',
    'link set eth1 up',
    'link add eth3 type ifb',
    'link add br1 type bridge',
    'link set eth3 up',
    'link set br1 up',
    'address add 203.0.113.9/32 dev br1',
  );
  const backends = [...createLinuxBackends(kernel), createUplinkBackend(kernel)];
  engine = createEngine({ backends });
  index = new TouchIndex(engine.kinds);
  feeds = backends
    .flatMap(({ changes = [] }) => changes)
    .map((feed) => ({ place: feed.place, changes: feed.open() }));
  owners = [node, uplink, ...peers, endpointOf(host.addPod(), 1), endpointOf(host.addPod(), 2)];
  for (const owned of owners) index.put(owned);
  assert.deepEqual(failed(await engine.reconcile(owners, call())), []);
});
after(async () => {
  for (const { changes } of feeds) changes.close();
  await engine?.close();
  await host?.close();
});

const failed = (changes: Awaited<ReturnType<Engine['reconcile']>>) =>
  changes.filter(({ action }) => action === 'failed');

/** Events come before the call that causes them returns. */
function listen(): { readonly owners: readonly string[]; readonly leftover: boolean } {
  const leads = feeds.flatMap(({ place, changes }) =>
    changes.read().hints.map((hint) => index.find(hint, place)),
  );
  return {
    owners: [...new Set(leads.flatMap((lead) => [...lead.owners]))].sort(),
    leftover: leads.some(({ leftover }) => leftover),
  };
}

const nothing = { owners: [], leftover: false };

/** Neither this work on a third pod nor its removal leads anywhere. */
async function assertUnheard(work: (owned: Owned) => Promise<void>): Promise<void> {
  listen();
  const owned = endpointOf(host.addPod(), 3);
  index.put(owned);
  await work(owned);
  assert.deepEqual(listen(), nothing);
  await engine.remove(owned, call());
  index.drop(owned.owner);
  await engine.settle();
  assert.deepEqual(listen(), nothing);
}

test('what the engine does itself leads to no owner', async () =>
  assertUnheard(async (owned) => engine.apply(owned, call())));

test('a pod that is removed and added again between two reads leads to no owner', async () =>
  assertUnheard(async (owned) => {
    await engine.apply(owned, call());
    await engine.remove(owned, call());
    await engine.apply(owned, call());
  }));

type Lead = Partial<ReturnType<typeof listen>>;
const onTunnel = ['node', 'peer:node12', 'peer:node13'];
const ip = (...commands: string[]) => commands.map((command) => ['ip', ...command.split(' ')]);
const run = (command: string) => [command.split(' ')];

const faults: Readonly<Record<string, readonly [commands: readonly string[][], lead: Lead]>> = {
  'a route of a pod is deleted': [ip('route del 10.9.0.1'), { owners: ['endpoint:1'] }],
  'a route of a pod is flushed with others': [ip('-6 route flush fd00:9::1'), { owners: ['endpoint:1'] }],
  'a route is altered': [ip('route replace 10.9.0.1/32 dev lo'), { owners: ['endpoint:1'] }],
  'a route is altered to the link of another pod': [
    ip('route replace 10.9.0.1/32 dev pwtest2'),
    { owners: ['endpoint:1'] },
  ],
  'a route to a peer is altered to the link of a pod': [
    ip('route replace 10.9.12.0/26 dev pwtest2'),
    { owners: ['peer:node12'] },
  ],
  'a route to a peer is deleted': [ip('route del 10.9.12.0/26'), { owners: ['peer:node12'] }],
  'the route of a block is deleted': [
    ip('route del blackhole 10.9.0.0/26 metric 4096'),
    { owners: ['node'] },
  ],
  'a route of our protocol shadows a pod of a peer': [
    ip('route add 10.9.12.7/32 dev pwtest2 proto 157'),
    { leftover: true },
  ],
  'a route of our protocol leads nowhere': [
    ip('-6 route add blackhole fd00:9:12::7 proto 157'),
    { leftover: true },
  ],
  'a neighbour on the tunnel is deleted': [
    ip(`neighbour del 10.9.12.0 dev ${vx}`),
    { owners: ['peer:node12'] },
  ],
  'a neighbour on the tunnel is altered': [
    ip(`neighbour replace 10.9.12.0 lladdr 02:00:00:00:00:01 dev ${vx} nud permanent`),
    { owners: ['peer:node12'] },
  ],
  'a neighbour on the tunnel is added': [
    ip(`neighbour add 10.9.99.0 lladdr 02:00:00:00:00:01 dev ${vx} nud permanent`),
    { leftover: true },
  ],
  'a forwarding entry is deleted': [run(`bridge fdb del ${mac} dev ${vx}`), { owners: ['peer:node12'] }],
  'a forwarding entry is altered': [
    run(`bridge fdb replace ${mac} dev ${vx} dst 192.0.2.99`),
    { owners: ['peer:node12'] },
  ],
  'a forwarding entry is added': [
    run(`bridge fdb append 00:00:00:00:00:00 dev ${vx} dst 192.0.2.99`),
    { leftover: true },
  ],
  'the tunnel is down': [ip(`link set ${vx} down`), { owners: onTunnel }],
  'the tunnel has another MTU': [ip(`link set ${vx} mtu 1300`), { owners: onTunnel }],
  'the tunnel begins elsewhere': [ip(`link set ${vx} type vxlan local 192.0.2.77`), { owners: onTunnel }],
  'the tunnel leaves by another link': [ip(`link set ${vx} type vxlan dev eth1`), { owners: onTunnel }],
  'the tunnel is in a bridge': [ip(`link set ${vx} master br0`), { owners: onTunnel }],
  'the tunnel is deleted': [ip(`link del ${vx}`), { owners: onTunnel }],
  'an address of the tunnel is deleted': [ip(`address del 10.9.0.0/32 dev ${vx}`), { owners: ['node'] }],
  'the tunnel has one more address': [ip(`address add 10.9.9.9/32 dev ${vx}`), { leftover: true }],
  'the link of a pod is down': [ip('link set pwtest1 down'), { owners: ['endpoint:1'] }],
  'the link of a pod has another MTU': [ip('link set pwtest1 mtu 1300'), { owners: ['endpoint:1'] }],
  'the link of a pod has another MAC': [
    ip('link set pwtest1 address 02:00:00:00:00:01'),
    { owners: ['endpoint:1'] },
  ],
  'the link of a pod is in a bridge': [ip('link set pwtest1 master br0'), { owners: ['endpoint:1'] }],
  'the link of a pod has another name': [ip('link set pwtest1 name stranger'), { leftover: true }],
  'the link of a pod makes addresses of its own': [
    ip('link set pwtest1 addrgenmode eui64'),
    { owners: ['endpoint:1'] },
  ],
  'the link of a pod is deleted': [ip('link del pwtest1'), { owners: ['endpoint:1'] }],
  'the shaper of a pod is down': [ip('link set pwshape1 down'), { owners: ['endpoint:1'] }],
  'a rate is deleted': [run('tc qdisc del dev pwtest1 root'), { owners: ['endpoint:1'] }],
  'a rate is altered': [
    run('tc qdisc replace dev pwtest1 root tbf rate 1mbit burst 20000 limit 60000'),
    { owners: ['endpoint:1'] },
  ],
  'a redirection is deleted': [run('tc qdisc del dev pwtest1 ingress'), { owners: ['endpoint:1'] }],
  'an address is put back onto an uplink': [
    ip('address add 203.0.113.9/32 dev eth3'),
    { owners: ['uplink'] },
  ],
  'forwarding is switched off': [run('sysctl -qw net.ipv4.ip_forward=0'), { owners: ['node'] }],
  'the table is deleted': [
    run('nft delete table inet podwire'),
    { owners: ['endpoint:1', 'endpoint:2', 'node'], leftover: true },
  ],
  'a table of our name is added': [run('nft add table ip podwire-odd'), { leftover: true }],
};

async function assertHealed(place: TestNamespace, break_: () => Promise<unknown>, lead: Lead): Promise<void> {
  const intact = await takeSnapshot(place);
  listen();
  await break_();
  assert.deepEqual(listen(), { ...nothing, ...lead });
  assert.deepEqual(failed(await engine.reconcile(owners, call())), []);
  for (const owned of owners) assert.deepEqual(await engine.verify(owned, call()), []);
  await untilSameSnapshot(intact, () => takeSnapshot(place), { ignore: [/structure_seal/] });
  listen();
  assert.deepEqual(await engine.reconcile(owners, call()), []);
  assert.deepEqual(listen(), nothing);
}

describe('on the node', () => {
  for (const [name, [commands, lead]] of Object.entries(faults))
    test(`${name}: it leads to whom it concerns`, async () =>
      assertHealed(
        host.namespace,
        async () => {
          for (const command of commands) await host.run(command);
        },
        lead,
      ));
});

describe('in a pod', () => {
  const faultsInPod: Readonly<Record<string, readonly string[]>> = {
    'an address is deleted': ['address del 10.9.0.1/32 dev eth0'],
    'routes are flushed': ['route flush dev eth0'],
    'a route leads nowhere': ['route replace unreachable default'],
    'a neighbour is deleted': ['neighbour del 169.254.1.1 dev eth0'],
    'a rule is deleted': ['rule del from 10.9.0.1 table 100 priority 1000'],
    'the link is down': ['link set eth0 down'],
    'the link has another name': ['link set eth0 down', 'link set eth0 name stranger'],
  };
  for (const [name, commands] of Object.entries(faultsInPod))
    test(`${name}: it leads to the endpoint`, async () => {
      const [pod] = host.pods as [TestNamespace];
      await assertHealed(pod, () => pod.ip(...commands), { owners: ['endpoint:1'] });
    });
});
