/** All pods send to all others, while agents and switches are killed: not one packet passes that should not. */
import { after, before, test } from 'node:test';
import type { Machine } from './fakes/cluster-fixture.js';
import { changeNetwork, createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod } from './fakes/sdn-pods.js';
import { type MayPass, type Sender, Traffic } from './fakes/sdn-traffic.js';

let fixture: SdnFixture;
let traffic: Traffic;

const projects = ['default', 'shop', 'bank', 'mall'];
/** Each for itself, but for the namespace `default`. */
const apart: MayPass = (from, to) => from === to || from === 'default' || to === 'default';
/** The project `mall` has joined `shop`. */
const joined: MayPass = (from, to) => apart(from, to) || (isOfPair(from) && isOfPair(to));
const isOfPair = (project: string): boolean => project === 'shop' || project === 'mall';

before(async () => {
  fixture = await createSdnFixture('isolate');
  for (const name of projects) await fixture.apply(namespace(name));
  const pods: Record<string, Sender> = {};
  for (const project of projects)
    for (const machine of fixture.machines)
      pods[`${project}-${machine.name}`] = { ...(await addPod(machine, project)), project };
  traffic = await Traffic.start(pods);
  for (const machine of fixture.machines)
    await traffic.forge(await addPod(machine, 'bank'), 'shop-n1', 'shop-n2');
});
after(async () => {
  await (traffic as Traffic | undefined)?.stop();
  await fixture?.close();
});

async function restartAgent({ agent }: Machine): Promise<void> {
  await agent.kill9();
  await agent.start();
}

async function restartSwitch(index: number): Promise<void> {
  await fixture.switches[index]!.killDaemon();
  await fixture.switches[index]!.startDaemon();
}

test('packets arrive from pods of the own project and of the project default, on both nodes, and from no others', async () => {
  await traffic.during(apart, () => Promise.resolve());
});

test('none arrives that may not while an agent is killed and started again', async () => {
  await traffic.during(apart, () => restartAgent(fixture.machines[0]!));
});

test('none arrives that may not while ovs-vswitchd is killed and started again on both nodes', async () => {
  await traffic.during(apart, async () => {
    await Promise.all([restartSwitch(0), restartSwitch(1)]);
  });
});

test('none arrives that may not while ovs-vswitchd starts again without an agent, and the agent after it', async () => {
  await traffic.during(apart, async () => {
    const { agent } = fixture.machines[1]!;
    await agent.kill9();
    await restartSwitch(1);
    await agent.start();
  });
});

test('none arrives that may not while ovsdb-server is killed and started again', async () => {
  await traffic.during(apart, async () => {
    const { database } = fixture.switches[0]!;
    await database.kill();
    await database.start();
  });
});

test('projects that were joined reach each other, and no others, also while agents and switches are killed', async () => {
  await traffic.during(joined, () => changeNetwork(fixture, 'mall', 'join:shop'));
  await traffic.during(joined, async () => {
    await Promise.all([restartAgent(fixture.machines[0]!), restartSwitch(1)]);
  });
});

test('a project that is isolated again stays so while agents and switches are killed', async () => {
  await traffic.during(joined, () => changeNetwork(fixture, 'mall', 'isolate'), apart);
  await traffic.untilClosed(apart);
  await traffic.during(apart, async () => {
    await Promise.all([restartAgent(fixture.machines[0]!), restartSwitch(1)]);
  });
});

test('a VNID that has changed while an agent was dead is in force when it is back', async () => {
  const { agent } = fixture.machines[0]!;
  const changeUnseen = async (change: string): Promise<void> => {
    await agent.kill9();
    await changeNetwork(fixture, 'mall', change);
    await agent.start();
  };
  await traffic.during(joined, () => changeUnseen('join:shop'));
  await traffic.during(joined, () => changeUnseen('isolate'), apart);
  await traffic.untilClosed(apart);
});
