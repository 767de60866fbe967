/** Networks of the model sdn: real agents with an Open vSwitch each, one real etcd, and packets between pods. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { assertBlocked, defaultAgentEntry, eventually, pings, startPing } from '@podwire/testkit';
import type { Machine } from './fakes/cluster-fixture.js';
import { changeNetwork, createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, askFor, dumpFlows, removePod, type SdnPod } from './fakes/sdn-pods.js';

const podwire = defaultAgentEntry.slice(0, 1);

let fixture: SdnFixture;
let one: Machine;
let two: Machine;
/** By project and node. */
let pods: Record<'shop' | 'shopToo' | 'shopFar' | 'bank' | 'bankFar' | 'global', SdnPod>;

before(async () => {
  fixture = await createSdnFixture('sdn');
  [one, two] = fixture.machines as [Machine, Machine];
  for (const name of ['default', 'shop', 'bank']) await fixture.apply(namespace(name));
  pods = {
    ...{
      shop: await addPod(one, 'shop'),
      shopToo: await addPod(one, 'shop'),
      shopFar: await addPod(two, 'shop'),
    },
    ...{
      bank: await addPod(one, 'bank'),
      bankFar: await addPod(two, 'bank'),
      global: await addPod(one, 'default'),
    },
  };
});
after(async () => fixture?.close());

const reaches = (from: SdnPod, to: SdnPod): Promise<boolean> => pings(from.namespace, to.address);

const untilReached = (from: SdnPod, to: SdnPod): Promise<void> =>
  eventually(`${from.address} reaches ${to.address}`, () => reaches(from, to));

/** The pod of the project `default` reaches both, so that only the way between the two is closed. */
const isolates = (from: SdnPod, to: SdnPod): Promise<void> =>
  assertBlocked(from.namespace, to.namespace, to.address, [pods.global]);

const dumpFlowsOf = (index: number): Promise<string[]> => dumpFlows(fixture.switches[index]!);

test('pods reach those of their project on both nodes, and those of the project default', async () => {
  await untilReached(pods.shop, pods.shopFar);
  assert.ok(await reaches(pods.shop, pods.shopToo));
  assert.ok(await reaches(pods.bankFar, pods.bank));
  assert.ok(await reaches(pods.global, pods.bankFar));
  assert.ok(await reaches(pods.shopFar, pods.global));
  await isolates(pods.shop, pods.bank);
  await isolates(pods.bankFar, pods.shopToo);
});

test('the status of a node has the mode of the network, and the datapath of the bridge', async () => {
  const [network] = (await one.status()).networks;
  const datapath = (await fixture.switches[0]!.vsctl('get', 'Bridge', 'br0', 'datapath_type')).trim();
  assert.deepEqual(network?.settings, { mode: 'multitenant', datapath });
});

test('an agent that restarts changes no flow, and packets pass meanwhile', async () => {
  const before = await dumpFlowsOf(0);
  const ping = startPing(pods.shop.namespace, pods.shopFar.address);
  await one.agent.stop();
  await one.agent.start();
  await eventually('the agent is ready', async () => (await one.status()).ready);
  const { sent, received } = await ping.stop();
  assert.equal(received, sent);
  assert.deepEqual(await dumpFlowsOf(0), before);
});

test('a project that joins another one reaches it, and is alone again when it is isolated', async () => {
  await changeNetwork(fixture, 'shop', 'join:bank');
  await untilReached(pods.shop, pods.bank);
  await untilReached(pods.bankFar, pods.shop);
  assert.ok(await reaches(pods.shop, pods.shopFar));
  await changeNetwork(fixture, 'shop', 'isolate');
  await untilReached(pods.shop, pods.shopFar);
  await eventually('shop does not reach bank', async () => !(await reaches(pods.shop, pods.bank)));
  await isolates(pods.bankFar, pods.shop);
});

test('a pod waits for the VNID of its namespace, and is told so when there is none', async () => {
  const own = one.host.addPod();
  const refused = await askFor(one, 'ADD', own, 'late');
  assert.deepEqual(
    [refused?.json.code, refused?.json.msg],
    [11, 'PROJECT_UNKNOWN: namespace late has no VNID yet'],
  );
  const waiting = askFor(one, 'ADD', own, 'late');
  await fixture.apply(namespace('late'));
  assert.ok((await waiting)?.ok);
  await askFor(one, 'DEL', own, 'late');
  one.host.removePod(own);
});

test('a pod that has macvlan0 reaches the addresses below it through the bridge', async () => {
  const own = one.host.addPod();
  await one.host.namespace.ip(
    'link add macvlan0 link eth0 type macvlan mode bridge',
    `link set macvlan0 netns ${own.name}`,
  );
  const added = await askFor(one, 'ADD', own, 'shop');
  assert.ok(added?.ok, JSON.stringify(added?.json));
  const wayTo = async (destination: string) => {
    const text = await own.run(['ip', '-json', 'route', 'show', destination]);
    return (JSON.parse(text) as { readonly gateway: string; readonly dev: string }[]).map(
      ({ gateway, dev }) => [gateway, dev],
    );
  };
  const below = one.host.ipv4.split('/')[0]!;
  const byDefault = await wayTo('default');
  assert.deepEqual(await wayTo(below), byDefault);
  assert.deepEqual(await wayTo('172.30.0.0/16'), byDefault);
  assert.match(await own.run(['ip', 'link', 'show', 'macvlan0']), /[<,]UP[,>]/);
  await eventually('it reaches the node', () => pings(own, below));
  assert.ok((await askFor(one, 'DEL', own, 'shop'))?.ok);
  one.host.removePod(own);
});

test('while etcd is down an agent starts with the subnet and the VNIDs that it knows', async () => {
  await fixture.etcd.members[0]!.kill9();
  const before = await dumpFlowsOf(0);
  await one.agent.stop();
  await one.agent.start();
  assert.deepEqual(await dumpFlowsOf(0), before);
  const fresh = await addPod(one, 'bank');
  assert.ok(await reaches(pods.bankFar, fresh));
  await isolates(pods.shop, fresh);
  await removePod(fresh);
  await fixture.etcd.members[0]!.start();
  await eventually('n1 is back', async () => (await one.status()).cluster.standing === 'registered');
});

test('a switch that was killed has everything again once it is back', async () => {
  const before = await dumpFlowsOf(0);
  await fixture.switches[0]!.killDaemon();
  await fixture.switches[0]!.startDaemon();
  await eventually('the flows are back', async () => isDeepStrictEqual(await dumpFlowsOf(0), before));
  await untilReached(pods.shop, pods.shopFar);
  await isolates(pods.shop, pods.bank);
});

test('the flows of a pod and of its project go with the last pod of it', async () => {
  await fixture.apply(namespace('brief'));
  const before = await dumpFlowsOf(1);
  const brief = [await addPod(two, 'brief'), await addPod(two, 'brief')];
  assert.notDeepEqual(await dumpFlowsOf(1), before);
  for (const pod of brief) await removePod(pod);
  assert.deepEqual(await dumpFlowsOf(1), before);
});

test('a node without pods is made again what it was', async () => {
  for (const pod of Object.values(pods)) await removePod(pod);
  for (const { agent } of fixture.machines) await agent.stop();
  for (const [index, { agent, host }] of fixture.machines.entries()) {
    const folders = ['--cni-bin-dir', `${host.directory}/bin`, '--cni-conf-dir', `${host.directory}/net.d`];
    await host.run([...podwire, 'uninstall', ...folders, '--config', agent.configFile]);
    assert.equal((await fixture.switches[index]!.vsctl('list-br')).trim(), 'br-phy');
    assert.doesNotMatch(await host.run(['nft', 'list', 'ruleset']), /podwire/i);
  }
});
