/** Daemons of OVN and Open vSwitch die, and databases lose what they had: pods have their network again, with what they had. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { eventually, pings, startPing } from '@podwire/testkit';
import type { Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, type OvnFixture } from './fakes/ovn-fixture.js';
import { addPod, askFor, type OvnPod, removePod } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;
let two: Machine;
let web: OvnPod;
let near: OvnPod;
let far: OvnPod;

before(async () => {
  fixture = await createOvnFixture('faults');
  [one, two] = fixture.machines as [Machine, Machine];
  [web, near, far] = [await addPod(one), await addPod(one), await addPod(two)];
  await untilWhole();
});
after(async () => fixture?.close());

/** Pods reach each other, and nodes reach pods, in both families. */
async function untilWhole(): Promise<void> {
  for (const to of [near, far])
    for (const address of to.addresses) {
      await eventually(`${web.name} reaches ${address}`, () => pings(web.namespace, address));
      await eventually(`the node reaches ${address}`, () => pings(one.host.namespace, address));
    }
}

/** A pod more is served as before, on both nodes. */
async function assertServing(): Promise<void> {
  for (const machine of [one, two]) {
    const pod = await addPod(machine);
    await eventually('a new pod reaches another', () => pings(pod.namespace, near.addresses[0]!));
    await removePod(pod);
  }
}

/** Names and addresses. The database has no order. */
async function listAllPorts(): Promise<string[]> {
  const words = ['--bare', '--columns=name,addresses', 'list', 'Logical_Switch_Port'];
  return (await fixture.central.nbctl(...words)).trim().split('\n\n').toSorted();
}

/** Those of nodes and of the pods that stay. */
async function listPorts(): Promise<string[]> {
  const names = [
    ...['n1', 'n2'].map((node) => `node-${node}`),
    ...[web, near, far].map(({ name }) => `${name}.shop`),
  ];
  return (await listAllPorts()).filter((port) => names.includes(port.split('\n')[0]!));
}

const deaths: readonly (readonly [what: string, happen: () => Promise<void>])[] = [
  [
    'ovn-controller',
    async () => {
      await fixture.nodes[0]!.killController();
      await fixture.nodes[0]!.startController();
    },
  ],
  [
    'ovs-vswitchd',
    async () => {
      await fixture.nodes[0]!.switch.killDaemon();
      await fixture.nodes[0]!.switch.startDaemon();
    },
  ],
  [
    'ovsdb-server of a node',
    async () => {
      await fixture.nodes[0]!.switch.database.kill();
      await fixture.nodes[0]!.switch.database.start();
    },
  ],
  [
    'ovn-northd',
    async () => {
      await fixture.central.killDaemon();
      await fixture.central.startDaemon();
    },
  ],
  [
    'the northbound database',
    async () => {
      await fixture.central.northbound.kill();
      await fixture.central.northbound.start();
    },
  ],
  [
    'the southbound database',
    async () => {
      await fixture.central.southbound.kill();
      await fixture.central.southbound.start();
    },
  ],
];

for (const [what, happen] of deaths)
  test(`pods have their network again when ${what} was killed and started`, async () => {
    await happen();
    await untilWhole();
    await assertServing();
  });

test('pods speak on while the controller and the central part of OVN are away', async () => {
  const ping = startPing(web.namespace, far.addresses[0]!);
  await fixture.killController();
  await fixture.central.killDaemon();
  await fixture.central.northbound.kill();
  await fixture.central.southbound.kill();
  await ping.waitForAnswers(40);
  await fixture.central.southbound.start();
  await fixture.central.northbound.start();
  await fixture.central.startDaemon();
  await fixture.startController();
  const { sent, received } = await ping.stop();
  assert.equal(received, sent);
  await assertServing();
});

test('a northbound database that was restored empty has the same ports again', async () => {
  const before = await listPorts();
  assert.equal(before.length, 5);
  await fixture.central.northbound.erase();
  await eventually('the ports are there again', async () => isDeepStrictEqual(await listPorts(), before));
  await untilWhole();
  await assertServing();
});

test('a northbound database that was restored as it was earlier has the ports of by now, and no address twice', async () => {
  const annotations = { 'ovn.kubernetes.io/ip_address': '10.16.8.8,fd00:10:16::808' };
  const earlier = await addPod(one, { annotations });
  await eventually('it is reached', () => pings(near.namespace, '10.16.8.8'));
  const backup = fixture.central.northbound.backup();
  await removePod(earlier);
  // The address of a pod that is gone, and one that the older database knows nothing of.
  const later = await addPod(two, { annotations });
  const another = await addPod(one);
  const before = await listAllPorts();
  await fixture.central.northbound.restore(backup);
  await eventually('the ports are there again', async () => isDeepStrictEqual(await listAllPorts(), before));
  await untilWhole();
  for (const pod of [later, another])
    for (const address of pod.addresses)
      await eventually(`${web.name} reaches ${address}`, () => pings(web.namespace, address));
  const more = [await addPod(one), await addPod(two), await addPod(two)];
  const all = [web, near, far, later, another, ...more].flatMap(({ addresses }) => addresses);
  assert.equal(new Set(all).size, all.length, all.join(' '));
  for (const pod of [later, another, ...more]) await removePod(pod);
});

test('another controller goes on when the one that leads is killed', async () => {
  const first = await addPod(one);
  await fixture.killController();
  await fixture.startController();
  const second = await addPod(one);
  assert.equal(new Set([first, second, web, near].flatMap(({ addresses }) => addresses)).size, 8);
  for (const pod of [first, second]) await removePod(pod);
});

test('a port that was deleted from the bridge comes back', async () => {
  const { switch: own } = fixture.nodes[0]!;
  const find = async (): Promise<string> =>
    (
      await own.vsctl(
        '--bare',
        '--columns=name',
        'find',
        'Interface',
        `external_ids:iface-id="${web.name}.shop"`,
      )
    ).trim();
  const name = await find();
  await own.vsctl('del-port', 'br-int', name);
  await eventually('the port is there', async () => (await find()) === name);
  await untilWhole();
  await own.vsctl('del-port', 'br-int', 'ovn0');
  await untilWhole();
});

test('an ADD while OVN is frozen on the node ends with what it waits for', async () => {
  fixture.nodes[0]!.freezeController();
  const own = one.host.addPod();
  const answer = await askFor(one, 'ADD', own);
  fixture.nodes[0]!.thawController();
  assert.equal(answer?.ok, false);
  assert.match(JSON.stringify(answer?.json), /PORT_NOT_INSTALLED.*iface-id/);
  await askFor(one, 'DEL', own);
  one.host.removePod(own);
  await assertServing();
});
