/** All pods send to all others, while agents and switches are killed: not one packet passes that should not. */
import { after, before, test } from 'node:test';
import { deaths, restartAgent, restartSwitch } from './fakes/sdn-deaths.js';
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

test('packets arrive from pods of the own project and of the project default, on both nodes, and from no others', async () => {
  await traffic.during(apart, () => Promise.resolve());
});

for (const [what, happen] of deaths)
  test(`none arrives that may not while ${what} is killed and started again`, async () => {
    await traffic.during(apart, () => happen(fixture));
  });

test('projects that were joined reach each other, and no others, also while agents and switches are killed', async () => {
  await traffic.during(joined, () => changeNetwork(fixture, 'mall', 'join:shop'));
  await traffic.during(joined, async () => {
    await Promise.all([restartAgent(fixture.machines[0]!), restartSwitch(fixture.switches[1]!)]);
  });
});

test('a project that is isolated again stays so while agents and switches are killed', async () => {
  await traffic.during(joined, () => changeNetwork(fixture, 'mall', 'isolate'), apart);
  await traffic.untilClosed(apart);
  await traffic.during(apart, async () => {
    await Promise.all([restartAgent(fixture.machines[0]!), restartSwitch(fixture.switches[1]!)]);
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
