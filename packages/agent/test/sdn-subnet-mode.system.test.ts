/** The mode `subnet` of the model sdn, where all pods reach each other, on nodes whose subnets are small. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deaths } from './fakes/sdn-deaths.js';
import { createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, askFor, removePod, type SdnPod } from './fakes/sdn-pods.js';
import { type Sender, Traffic } from './fakes/sdn-traffic.js';

let fixture: SdnFixture;
let traffic: Traffic;

const all = (): boolean => true;

before(async () => {
  // A subnet has eight addresses: one for the node, and five for pods.
  fixture = await createSdnFixture('subnet', { mode: 'subnet', CIDR: '10.128.0.0/28', hostSubnetLength: 3 });
  for (const name of ['default', 'shop', 'bank']) await fixture.apply(namespace(name));
  const pods: Record<string, Sender> = {};
  for (const project of ['shop', 'bank'])
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

test('pods of all projects reach each other, and none in the name of another one', async () => {
  await traffic.during(all, () => Promise.resolve());
});

for (const [what, happen] of deaths)
  test(`they do again, and in no other name meanwhile, after ${what} is killed and started again`, async () => {
    await traffic.during(all, () => happen(fixture));
  });

test('a pod for which its node has no address is refused by name, and all others go on', async () => {
  const [one, two] = fixture.machines as [SdnFixture['machines'][0], SdnFixture['machines'][0]];
  const more: SdnPod[] = [];
  while (more.length < 2) more.push(await addPod(two, 'bank'));
  const late = two.host.addPod();
  const refused = await askFor(two, 'ADD', late, 'bank');
  assert.equal(refused?.json.code, 11);
  assert.match(refused.json.msg!, /POOL_EXHAUSTED/);
  await removePod(await addPod(one, 'bank'));
  await removePod(more[0]!);
  assert.ok((await askFor(two, 'ADD', late, 'bank'))?.ok);
  await traffic.during(all, () => Promise.resolve());
});
