/** From resources to packets: the engine, ovn-northd, and two nodes with ovn-controller and Open vSwitch each. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Owned, Resource } from '@podwire/engine';
import {
  ask,
  assertArrives,
  assertBlocked,
  assertPasses,
  eventually,
  pings,
  pour,
  serveEcho,
  serveSink,
} from '@podwire/testkit';
import { dumpRows } from './dump-rows.js';
import type { Acl } from '../src/northbound/index.js';
import { BACKEND, call, createWorld, network, VIP, type World, type WorldPod } from './northbound-world.js';

let world: World;

before(async () => {
  world = await createWorld({ encapsulation: 'geneve' });
});
after(async () => {
  await (world as World | undefined)?.close();
});

/** All of it arrives, by TCP. */
async function transfers(from: WorldPod, to: WorldPod): Promise<void> {
  const sink = await serveSink(to.namespace, to.address);
  try {
    const bytes = 1 << 20;
    const transfer = await pour(from.namespace, to.address, sink.port, bytes);
    assert.equal(transfer.bytes, bytes);
  } finally {
    await sink.close();
  }
}

async function assertConnected({ web, db, far }: World['pods']): Promise<void> {
  for (const other of [db, far]) {
    assert.ok(await pings(web.namespace, other.address));
    assert.ok(await pings(other.namespace, web.address));
    await transfers(web, other);
  }
}

const guard: Acl = {
  ...{ kind: 'acl', name: 'guarded', on: { portGroup: 'guarded' }, direction: 'to-lport' },
  ...{ priority: 2_000, match: 'outport == @guarded && udp.dst == 9', action: 'drop' },
};
const exception: Acl = {
  ...{ kind: 'acl', name: 'green', on: { switch: 'blue' }, direction: 'to-lport', priority: 2_001 },
  ...{ match: 'ip4.src == 10.17.0.0/24', action: 'allow-related' },
};
const policy: Owned = { owner: 'policy', resources: [guard, exception] };

const tunnelOf = ({ cluster }: World): Promise<string> =>
  cluster.nodes[0]!.switch.vsctl('get', 'Interface', 'ovn-n2-0', 'type');

test('pods on two nodes reach each other, on one switch and through a router', async () => {
  assert.equal((await tunnelOf(world)).trim(), 'geneve');
  await assertConnected(world.pods);
});

test('they do so where the tunnels are of vxlan, too', async () => {
  const other = await createWorld({ encapsulation: 'vxlan' });
  try {
    assert.equal((await tunnelOf(other)).trim(), 'vxlan');
    await assertConnected(other.pods);
  } finally {
    await other.close();
  }
});

test('an ACL stops what it forbids, and nothing else, until it is gone', async () => {
  const { engine, backend } = world;
  const { web, db, far } = world.pods;
  await assertArrives(web.namespace, db.namespace, db.address);
  await engine.apply(policy, call());
  await backend.settle('hypervisors', call());
  await assertBlocked(web.namespace, db.namespace, db.address, []);
  await assertPasses(web.namespace, db.namespace, db.address);
  await assertArrives(web.namespace, far.namespace, far.address);
  await assertArrives(far.namespace, db.namespace, db.address);

  await engine.change({ owner: 'policy' }, { remove: [exception] }, call());
  await backend.settle('hypervisors', call());
  await assertBlocked(far.namespace, db.namespace, db.address, []);
  await engine.remove({ owner: 'policy', resources: [guard] }, call());
  await backend.settle('hypervisors', call());
  for (const { namespace } of [web, far]) await assertArrives(namespace, db.namespace, db.address);
});

test('a rule limits what a pod sends, whatever others send', async () => {
  const { engine, backend } = world;
  const { web, db, far } = world.pods;
  const rate = 10_000;
  const limit: Resource = {
    ...{ kind: 'qos-rule', name: 'web', switch: 'blue', direction: 'from-lport', priority: 1_000 },
    ...{ match: 'inport == "web"', bandwidth: { rate, burst: 8_000 } },
  };
  const rules: Owned = { owner: 'qos', resources: [limit] };
  const sink = await serveSink(db.namespace, db.address);
  // A burst of 1 MB, and 2 MB at the rate: a busy machine makes it slower, and never faster.
  const measure = async ({ namespace }: WorldPod) =>
    (await pour(namespace, db.address, sink.port, 3_000_000)).rate / 1_000;
  await engine.apply(rules, call());
  await backend.settle('hypervisors', call());
  const limited = await measure(web);
  assert.ok(limited < 1.6 * rate, `${limited} kbit/s`);
  await repeatUntilFast(() => measure(far), 2 * rate);
  await engine.remove(rules, call());
  await backend.settle('hypervisors', call());
  await repeatUntilFast(() => measure(web), 2 * rate);
  await sink.close();
});

/** On a busy machine one transfer may be slow by itself. */
async function repeatUntilFast(measure: () => Promise<number>, rate: number): Promise<void> {
  await eventually(`a transfer is faster than ${rate} kbit/s`, async () => (await measure()) > rate);
}

test('the address of a load balancer leads to its backend on the other node', async () => {
  const { web, far } = world.pods;
  const server = await serveEcho(far.namespace, 'tcp', BACKEND.address, BACKEND.port);
  try {
    const { peer, local } = await ask(web.namespace, 'tcp', VIP.address, VIP.port);
    assert.deepEqual([peer.address, local], [web.address, BACKEND]);
  } finally {
    await server.close();
  }
});

test('what is to reach all nodes waits for an ovn-controller that is frozen', async () => {
  const { engine, backend, cluster } = world;
  const { central, nodes } = cluster;
  const resources = [{ kind: 'address-set', name: 'friends', addresses: ['10.16.0.10'] } as const];
  await backend.settle('hypervisors', call());
  nodes[1]!.freezeController();
  let isSettled = false;
  await engine.apply({ owner: 'set', resources }, call());
  const settled = backend.settle('hypervisors', call()).then(() => (isSettled = true));
  await backend.settle('southbound', call());
  const count = (await central.nbctl('get', 'NB_Global', '.', 'nb_cfg')).trim();
  // The other node has followed.
  await central.sbctl('wait-until', 'Chassis_Private', 'n1', `nb_cfg=${count}`);
  const early = backend.settle('hypervisors', { ...call(), timeout: 500 });
  await assert.rejects(early, { code: 'BACKEND_SILENT', message: /not every ovn-controller/ });
  assert.equal(isSettled, false);
  nodes[1]!.thawController();
  await settled;
  await engine.remove({ owner: 'set', resources }, call());
});

test('an ovn-controller that was killed and started again finds its node as it was', async () => {
  const { engine, backend, cluster, pods } = world;
  const [, node] = cluster.nodes;
  await node!.killController();
  assert.ok(await pings(pods.web.namespace, pods.db.address));
  await node!.startController();
  await backend.settle('hypervisors', call());
  assert.deepEqual(await engine.reconcile([network], call()), []);
  await assertConnected(pods);
});

/** But for the row that counts. */
const rowsOf = async ({ cluster }: World): Promise<readonly string[]> =>
  (await dumpRows(cluster.central.northbound)).filter((table) => !table.startsWith('NB_Global table'));

test('what is removed leaves nothing, and comes back with the same rows', async () => {
  const { engine, backend, cluster, pods } = world;
  const before = await rowsOf(world);
  await engine.remove(network, call());
  await backend.settle('hypervisors', call());
  assert.equal(await cluster.central.sbctl('--bare', 'list', 'Port_Binding'), '');
  assert.equal(await cluster.central.sbctl('--bare', 'list', 'Datapath_Binding'), '');
  await engine.apply(network, call());
  await backend.settle('hypervisors', call());
  assert.deepEqual(await rowsOf(world), before);
  await assertConnected(pods);
});
