/** Provider networks of the model ovn: the uplink of a node joins a bridge, with a real agent, Open vSwitch and OVN. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { switchLinkFeature } from '@podwire/linux';
import { type AnyObject, checkObject, type ProviderNetwork } from '@podwire/objects';
import { eventually, pings, serveEcho, startStream, type TestNamespace, until } from '@podwire/testkit';
import { openFaultInjector } from '@podwire/testkit/fault-injection';
import path from 'node:path';
import type { Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, type OvnFixture, referTo } from './fakes/ovn-fixture.js';
import { addPod, removePod } from './fakes/ovn-pods.js';
import { askApi } from './fakes/plugin-client.js';

let fixture: OvnFixture;
let one: Machine;
/** A machine on the network outside. */
let outside: TestNamespace;
/** Everything that is on the uplink at first. */
let contents: readonly string[];

before(async () => {
  fixture = await createOvnFixture('provider');
  one = fixture.machines[0]!;
  outside = one.host.addPod();
  const { namespace } = one.host;
  await namespace.ip(
    `link add eth7 type veth peer name eth0 netns ${outside.name}`,
    'link set eth7 up',
    'address add 192.0.77.10/24 broadcast + dev eth7',
    'address add 192.0.77.11/24 dev eth7 label eth7:1',
    'address add 2001:db8:77::10/64 dev eth7 nodad',
    'route add 10.99.0.0/16 via 192.0.77.1 src 192.0.77.11 metric 50',
    'route add 2001:db8:99::/64 via 2001:db8:77::1 metric 50',
    'rule add iif eth7 lookup 1077 priority 900',
  );
  await outside.ip(
    ...['link set lo up', 'link set eth0 up', 'address add 192.0.77.1/24 dev eth0'],
    ...['address add 2001:db8:77::1/64 dev eth0 nodad', 'address add 172.20.0.1/24 dev eth0'],
  );
  // The switch in user space hands checksums on as they are.
  outside.inside(() => switchLinkFeature('eth0', 'tx-checksumming', false));
});
after(async () => fixture?.close());

const objectOf = (kind: string, name: string, spec: object): AnyObject => {
  const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec });
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.object;
};

const network = (spec: object = {}, name = 'net1'): AnyObject =>
  objectOf('ProviderNetwork', name, { defaultInterface: 'eth7', excludeNodes: ['n2'], ...spec });

const show = async (command: string): Promise<string> =>
  one.host.namespace.run(['ip', '-o', ...command.split(' ')]);

/** Addresses, routes and rules of a link, with its name left out. */
async function contentsOf(link: string): Promise<readonly string[]> {
  const texts = [
    await show(`-4 address show dev ${link}`),
    await show(`-6 address show dev ${link} scope global`),
    await show(`route show dev ${link}`),
    await show(`-6 route show dev ${link}`),
    await show(`rule show iif ${link}`),
  ];
  const lines = texts.flatMap((text) => text.trim().split('\n'));
  return lines
    .map((line) =>
      line
        .replace(/^\d+: /, '')
        .replaceAll(link, 'LINK')
        .trim(),
    )
    .filter((line) => line !== '' && !line.startsWith('fe80'));
}

/** The link may not be there yet. */
const untilContents = (link: string, wanted: readonly string[]): Promise<unknown> =>
  until(`everything is on ${link}`, async () => isDeepStrictEqual(await contentsOf(link), wanted), {
    describe: () => contentsOf(link),
  });

const mappings = async (): Promise<string> =>
  fixture.nodes[0]!.switch.vsctl(
    '--if-exists',
    'get',
    'Open_vSwitch',
    '.',
    'external_ids:ovn-bridge-mappings',
  );

const problemsOf = async (): Promise<readonly string[]> =>
  (await askApi(one.agent.apiSocket, '/v1/status'))['problems'] as string[];

const bridges = async (): Promise<string> => fixture.nodes[0]!.switch.vsctl('list-br');

test('an uplink joins the bridge of its network, and the node keeps what it has there', async () => {
  contents = await contentsOf('eth7');
  assert.ok(contents.length >= 8, contents.join('\n'));
  const echo = await serveEcho(outside, 'tcp', '192.0.77.1', 4077);
  const stream = await startStream(one.host.namespace, '192.0.77.1', echo.port);
  await fixture.apply(network());
  await untilContents('br-net1', contents);
  assert.deepEqual(await contentsOf('eth7'), []);
  assert.match(await mappings(), /net1:br-net1/);
  for (const address of ['192.0.77.1', '2001:db8:77::1'])
    await eventually(`the node reaches ${address}`, () => pings(one.host.namespace, address));
  const answers = await outside.run(['ping', '-c', '3', '-i', '0.2', '192.0.77.10']);
  assert.doesNotMatch(answers, /DUP/);
  assert.ok((await stream.stop()) > 0, 'the connection has gone on');
  await echo.close();
  assert.deepEqual(await problemsOf(), []);
});

test('a pod of an underlay subnet reaches a machine outside', async () => {
  await fixture.apply(objectOf('Vlan', 'vlan0', { id: 0, provider: 'net1' }));
  await fixture.apply(
    objectOf('Subnet', 'street', { cidrBlock: '172.20.0.0/24', gateway: '172.20.0.1', vlan: 'vlan0' }),
  );
  const pod = await addPod(one, { annotations: { 'ovn.kubernetes.io/logical_switch': 'street' } });
  await eventually('the pod reaches a machine outside', () => pings(pod.namespace, '172.20.0.1'));
  await eventually('a machine outside reaches the pod', () => pings(outside, pod.addresses[0]!));
  await removePod(pod);
});

test('what is put onto the uplink again is moved again', async () => {
  await one.host.namespace.ip('address add 192.0.77.10/24 broadcast + dev eth7');
  await untilContents('eth7', []);
  assert.deepEqual(await contentsOf('br-net1'), contents);
});

test('an agent that restarts leaves everything where it is', async () => {
  await one.agent.stop();
  await one.agent.start();
  await eventually('the agent is ready', async () => (await one.status()).ready);
  assert.deepEqual([await contentsOf('eth7'), await contentsOf('br-net1')], [[], contents]);
});

test('the object says which nodes are ready, and why others are not', async () => {
  const reference = { apiVersion: 'kubeovn.io/v1', kind: 'ProviderNetwork', name: 'net1' };
  const readStatus = async () => ((await fixture.read(reference)) as ProviderNetwork).status;
  const untilStatus = (is: (status: NonNullable<ProviderNetwork['status']>) => boolean) =>
    until(
      'the status has followed',
      async () => {
        const status = await readStatus();
        return status !== undefined && is(status);
      },
      { describe: readStatus },
    );
  const findReasons = async () =>
    (await readStatus())!.conditions.map(({ node, reason, message }) => [node, reason, message]);
  const succeeded = (node: string) => [node, 'InitOVSBridgeSucceeded', ''];
  await fixture.apply(network({ excludeNodes: [] }));
  await untilStatus(({ readyNodes, conditions }) => readyNodes.length === 1 && conditions.length === 2);
  const problem = 'provider network net1: this node has no interface eth7';
  assert.deepEqual(await findReasons(), [succeeded('n1'), ['n2', 'InitOVSBridgeFailed', problem]]);
  await fixture.machines[1]!.host.namespace.ip(
    'link add eth7 type veth peer name eth8',
    'address add 192.0.78.10/24 dev eth7',
  );
  await untilStatus(({ ready }) => ready);
  assert.deepEqual(await findReasons(), [succeeded('n1'), succeeded('n2')]);
  assert.deepEqual((await readStatus())?.vlans, ['vlan0']);
  await fixture.apply(network());
  await untilStatus(({ conditions }) => conditions.length === 1);
  assert.deepEqual(await findReasons(), [succeeded('n1')]);
});

test('everything is back on the uplink of a node that is excluded', async () => {
  await fixture.apply(network({ excludeNodes: ['n1', 'n2'] }));
  await untilContents('eth7', contents);
  await until('the bridge is gone', async () => !(await bridges()).includes('br-net1'));
  assert.doesNotMatch(await mappings(), /net1/);
});

test('a node that is excluded while its agent is away has everything back when it starts', async () => {
  await fixture.apply(network());
  await untilContents('br-net1', contents);
  await one.agent.stop();
  await fixture.apply(network({ excludeNodes: ['n1', 'n2'] }));
  await one.agent.start();
  await untilContents('eth7', contents);
  await until('the bridge is gone', async () => !(await bridges()).includes('br-net1'));
});

test('an interface that a node does not have is a problem of the node, and of nothing else', async () => {
  const custom = [{ interface: 'eth9', nodes: ['n1'] }];
  await fixture.apply(network({ customInterfaces: custom }));
  await eventually('the node says so', async () =>
    (await problemsOf()).some((problem) =>
      problem.includes('provider network net1: this node has no interface eth9'),
    ),
  );
  assert.deepEqual(await contentsOf('eth7'), contents);
  await fixture.apply(network());
  await untilContents('br-net1', contents);
  await until('the problem is over', async () => (await problemsOf()).length === 0);
});

test('a second network with the same interface is refused, and has it once the first one is gone from the node', async () => {
  const message = 'provider network net2: eth7 is the interface of provider network net1 on this node';
  await fixture.apply(network({}, 'net2'));
  await eventually('the node says so', async () =>
    (await problemsOf()).some((problem) => problem.includes(message)),
  );
  const statusOfSecond = async () =>
    ((await fixture.read(referTo('ProviderNetwork', 'net2'))) as ProviderNetwork).status;
  await until('the object says so', async () =>
    (await statusOfSecond())!.conditions.some(
      ({ reason, message: found }) => reason === 'InitOVSBridgeFailed' && found.startsWith(message),
    ),
  );
  assert.deepEqual([await contentsOf('br-net1'), await contentsOf('eth7')], [contents, []]);
  assert.doesNotMatch((await bridges()) + (await mappings()), /net2/);
  await fixture.apply(network({ excludeNodes: ['n1', 'n2'] }));
  await untilContents('br-net2', contents);
  await until('the first bridge is gone', async () => !(await bridges()).includes('br-net1'));
  await until('the problem is over', async () => (await problemsOf()).length === 0);
  await until('the second one is ready', async () => (await statusOfSecond())!.ready);
  await fixture.apply(network());
  await untilContents('br-net1', contents);
  await fixture.apply(network({ excludeNodes: ['n1', 'n2'] }, 'net2'));
  await until('the problem of the second one is over', async () => (await problemsOf()).length === 0);
  assert.deepEqual(await contentsOf('br-net1'), contents);
});

test('the uplink that leads to the store is moved, and the node goes on', async () => {
  fixture.hosts.middle.inside(() => switchLinkFeature('h1', 'tx-checksumming', false));
  const before = await contentsOf('eth0');
  assert.ok(
    before.some((line) => line.startsWith('default')),
    before.join('\n'),
  );
  const own = objectOf('ProviderNetwork', 'net2', { defaultInterface: 'eth0', excludeNodes: ['n2'] });
  await fixture.apply(own);
  await untilContents('br-net2', before);
  // The next object comes by that way.
  await fixture.apply(
    objectOf('ProviderNetwork', 'net2', { defaultInterface: 'eth0', excludeNodes: ['n1', 'n2'] }),
  );
  await untilContents('eth0', before);
  assert.deepEqual(await problemsOf(), []);
});

/** Where the contents of the uplink are. They are nowhere in part. */
async function findContents(): Promise<string[]> {
  const found: string[] = [];
  for (const link of ['eth7', 'br-net1']) {
    const text = await contentsOf(link).catch(() => []);
    if (text.length > 0) found.push(isDeepStrictEqual(text, contents) ? link : `a part on ${link}`);
  }
  return found;
}

/** The bridge and the table are there, or neither is: one is the last to go, the other the last to come. */
async function isWhole(link: string): Promise<boolean> {
  const tables = await one.host.namespace.run(['nft', 'list', 'tables']);
  const found = [(await bridges()).includes('br-net1'), tables.includes('podwire_provider_net1')];
  const isMade = found.every((isThere) => isThere === (link === 'br-net1'));
  return isMade && isDeepStrictEqual(await contentsOf(link), contents);
}

const untilWhole = (link: string): Promise<unknown> =>
  until(`all of the network has come or gone, and ${link} has everything`, () => isWhole(link));

test('an agent that dies at any step of a move goes on with it, and nothing is lost', async (context) => {
  const orders = path.join(one.host.directory, 'orders');
  const injector = openFaultInjector(orders);
  const start = () => one.agent.start({ PODWIRE_FAULTS: orders });
  await one.agent.stop();
  await start();
  const excluded = network({ excludeNodes: ['n1', 'n2'] });
  const back = { object: excluded, link: 'eth7' };
  const there = { object: network(), link: 'br-net1' };
  const reach = async ({ object, link }: typeof back): Promise<void> => {
    await fixture.apply(object);
    await untilWhole(link);
  };
  let deaths = 0;
  for (const [from, to] of [
    [back, there],
    [there, back],
  ] as const) {
    await reach(from);
    injector.clear();
    await reach(to);
    const steps = injector.occurrences().filter(({ point }) => /^(apply|remove):/.test(point));
    for (const { point, skip } of steps) {
      // An order that the last move has not carried out would end the agent on its way back.
      injector.clear();
      await reach(from);
      injector.inject({ point, skip, signal: 'SIGKILL' });
      await fixture.apply(to.object);
      // A reconcile that comes between passes the step in its own way.
      await until(`it dies at ${point}, or is done`, async () => !injector.isPending() || isWhole(to.link));
      if (injector.isPending()) continue;
      assert.equal((await one.agent.exited()).signal, 'SIGKILL');
      const found = await findContents();
      assert.ok([from.link, to.link].includes(found.join()), `after a death at ${point}: ${found.join()}`);
      injector.clear();
      await start();
      await untilWhole(to.link);
      deaths += 1;
    }
  }
  assert.ok(deaths >= 5, `it died ${deaths} times`);
  context.diagnostic(`died ${deaths} times`);
});
