/** Open vSwitch loses what the agent has made, stops, or is changed by hand: all comes back, and what is of others stays. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { assertBlocked, eventually, pings } from '@podwire/testkit';
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { Machine } from './fakes/cluster-fixture.js';
import { askApi } from './fakes/plugin-client.js';
import { createSdnFixture, makeUplink, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, askFor, dumpFlows, removePod, type SdnPod } from './fakes/sdn-pods.js';

let fixture: SdnFixture;
let one: Machine;
let own: OpenVSwitch;
let shop: SdnPod;
let bank: SdnPod;
let global: SdnPod;
let shopFar: SdnPod;
/** Of the first node, with all its pods. */
let flows: readonly string[];

before(async () => {
  fixture = await createSdnFixture('faults');
  one = fixture.machines[0]!;
  own = fixture.switches[0]!;
  for (const name of ['default', 'shop', 'bank']) await fixture.apply(namespace(name));
  shop = await addPod(one, 'shop');
  bank = await addPod(one, 'bank');
  global = await addPod(one, 'default');
  shopFar = await addPod(fixture.machines[1]!, 'shop');
  await untilWhole();
  flows = await dumpFlows(own);
});
after(async () => fixture?.close());

/** Pods reach those that they may, on both nodes, and no others. */
async function untilWhole(): Promise<void> {
  for (const [from, to] of [
    ...[[shop, shopFar] as const, [shopFar, shop] as const],
    ...[[global, bank] as const, [shop, global] as const],
  ])
    await eventually(`${from.address} reaches ${to.address}`, () => pings(from.namespace, to.address));
  await assertBlocked(shop.namespace, bank.namespace, bank.address, [global]);
}

/** Resolves when the flows are what they were; says how long it took. */
async function untilFlowsAreBack(context: TestContext): Promise<void> {
  const start = performance.now();
  await eventually(
    'the flows are back',
    async () => isDeepStrictEqual(await dumpFlows(own).catch(() => []), flows),
    { interval: 20 },
  );
  context.diagnostic(`back after ${Math.round(performance.now() - start)} ms`);
}

/** The packets pass as before, and nothing is left to do. */
async function untilAsBefore(context: TestContext): Promise<void> {
  await untilFlowsAreBack(context);
  await untilWhole();
  await eventually('a reconcile finds nothing', async () => {
    const { changes, failures } = await reconcile();
    return (changes.length === 0 && failures.length === 0) || JSON.stringify([changes, failures]);
  });
  assert.deepEqual(await dumpFlows(own), flows);
}

const reconcile = async () =>
  (await askApi(one.agent.apiSocket, '/v1/reconcile', {})) as { changes: object[]; failures: string[] };

const portsOf = async (bridge: string): Promise<string[]> =>
  (await own.vsctl('list-ports', bridge)).trim().split('\n').toSorted();

test('all flows come back that were deleted by hand', async (context) => {
  await own.ofctl(['del-flows', 'BRIDGE']);
  await untilAsBefore(context);
});

test('flows of others stay, and one with our mark that is not wanted goes', async (context) => {
  const foreign = 'cookie=0x1,table=200,priority=7,ip,nw_src=192.0.2.99,actions=drop';
  await own.ofctl(['add-flow', 'BRIDGE', foreign]);
  await own.ofctl(['add-flow', 'BRIDGE', 'cookie=0x706f647700000000,table=200,ip,actions=drop']);
  await own.ofctl(['del-flows', 'BRIDGE', `table=70,ip,nw_dst=${shop.address}`]);
  const count = async (): Promise<number> => (await dumpFlows(own)).length;
  await eventually('our flow has gone', async () => (await count()) === flows.length + 1);
  assert.match(await own.ofctl(['dump-flows', 'BRIDGE', 'cookie=0x1/-1']), /nw_src=192\.0\.2\.99/);
  await own.ofctl(['del-flows', 'BRIDGE', 'table=200']);
  await untilAsBefore(context);
});

test('ports and settings of the bridge come back that were changed by hand, and ports of others stay', async (context) => {
  const ports = await portsOf('br0');
  await own.vsctl('add-port', 'br0', 'other0', '--', 'set', 'Interface', 'other0', 'type=internal');
  const link = ports.find((port) => port.startsWith('cali'))!;
  for (const words of [
    ['del-port', 'br0', link],
    ['del-port', 'br0', 'tun0'],
    ['--if-exists', 'del-port', 'br0', 'vxlan0'],
    ['set', 'Interface', 'vxlan0', 'options:remote_ip=192.0.2.9'],
    ['set', 'Interface', link, 'ofport_request=77'],
    ['set-fail-mode', 'br0', 'standalone'],
  ]) {
    await own.vsctl(...words);
    await untilFlowsAreBack(context);
    await eventually('all ports are there', async () =>
      isDeepStrictEqual(await portsOf('br0'), [...ports, 'other0'].toSorted()),
    );
  }
  await own.vsctl('del-port', 'br0', 'other0');
  await untilAsBefore(context);
});

test('a bridge that was deleted comes back with its pods, and another bridge stays', async (context) => {
  await own.vsctl('del-br', 'br0');
  await untilAsBefore(context);
  assert.deepEqual((await own.vsctl('list-br')).trim().split('\n'), ['br-phy', 'br0']);
});

test('a database that was restored empty has everything again', async (context) => {
  await own.database.erase();
  // This one is not ours.
  await makeUplink(own, one.host, 0);
  await untilAsBefore(context);
});

for (const [what, freeze, thaw] of [
  ['ovsdb-server', () => own.database.freeze(), () => own.database.thaw()],
  ['ovs-vswitchd', () => own.freezeDaemon(), () => own.thawDaemon()],
] as const)
  test(`while ${what} is stopped an ADD fails by name, and nothing of it is left`, async (context) => {
    const rows = await portsOf('br0');
    const late = one.host.addPod();
    freeze();
    try {
      const refused = await askFor(one, 'ADD', late, 'shop');
      assert.equal(refused?.ok, false);
      assert.match(refused.json.msg!, /BACKEND_SILENT|REMOVE_INCOMPLETE|DEADLINE/, one.agent.log());
      context.diagnostic(refused.json.msg!);
      assert.match(JSON.stringify(await reconcile()), /BACKEND_SILENT/);
      const { ready, problem } = await one.status();
      context.diagnostic(JSON.stringify({ ready, problem }));
    } finally {
      thaw();
    }
    await untilAsBefore(context);
    assert.deepEqual(await portsOf('br0'), rows);
    assert.ok((await askFor(one, 'DEL', late, 'shop'))?.ok);
    assert.ok((await askFor(one, 'ADD', late, 'shop'))?.ok, one.agent.log());
    await removePod({ machine: one, namespace: late, address: '' });
    await untilAsBefore(context);
  });
