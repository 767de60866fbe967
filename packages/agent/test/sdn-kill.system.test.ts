/**
 * `kill -9` of the agent at every step of an ADD and a DEL of the model sdn. After the restart all of a pod is there, or nothing of it:
 * node and switch are compared.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pings, type Snapshot, takeSnapshot } from '@podwire/testkit';
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { Machine } from './fakes/cluster-fixture.js';
import { DyingCalls, quietAgent, toKeys } from './fakes/dying-calls.js';
import { createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, askFor, dumpFlows } from './fakes/sdn-pods.js';

let fixture: SdnFixture;
let one: Machine;
let own: OpenVSwitch;
let calls: DyingCalls;

before(async () => {
  fixture = await createSdnFixture('kill', { agentOf: () => quietAgent });
  one = fixture.machines[0]!;
  own = fixture.switches[0]!;
  for (const name of ['default', 'shop']) await fixture.apply(namespace(name));
  const bystander = await addPod(one, 'shop');
  const subject = one.host.addPod();
  // Its port and its flows follow from the address.
  const runtimeConfig = { ips: [bystander.address.replace(/\d+$/, '9')] };
  calls = await DyingCalls.begin({
    ...{ machine: one, subject, take },
    ask: (command) => askFor(one, command, subject, 'shop', { runtimeConfig }),
    checkOthers: async () =>
      assert.ok(await pings(one.host.namespace, bystander.address), 'the other pod answers'),
  });
});
after(async () => fixture?.close());

/** Of the node, its records by name, since they hold times, and of the switch. */
const take = async (): Promise<Snapshot> => ({
  ...(await takeSnapshot(one.host.namespace)),
  records: toKeys(fs.readdirSync(path.join(one.agent.stateDirectory, 'endpoints'))),
  flows: toKeys(await dumpFlows(own)),
  ports: toKeys((await own.vsctl('--columns=name,ofport,external_ids', 'list', 'Interface')).split('\n\n')),
});

test('an ADD in which the agent dies is undone, or done', async (context) => {
  const occurrences = await calls.record(() => calls.add());
  await calls.del();
  await calls.dieAtEach(occurrences, 'ADD', context);
});

test('a DEL in which the agent dies is done, or the next one does it', async (context) => {
  await calls.add();
  await calls.dieAtEach(await calls.record(() => calls.del()), 'DEL', context, () => calls.add());
});
