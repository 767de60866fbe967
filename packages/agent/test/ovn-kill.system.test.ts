/**
 * `kill -9` of the agent at every step of an ADD and a DEL of the model ovn. After the restart all of a pod is there, or nothing of it:
 * node, switch, store and the northbound database are compared.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pings, type Snapshot, takeSnapshot } from '@podwire/testkit';
import type { Machine } from './fakes/cluster-fixture.js';
import { DyingCalls, quietAgent, toKeys } from './fakes/dying-calls.js';
import { createOvnFixture, type OvnFixture } from './fakes/ovn-fixture.js';
import { addPod, askFor } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;
let calls: DyingCalls;

before(async () => {
  fixture = await createOvnFixture('kill', { config: quietAgent });
  one = fixture.machines[0]!;
  const bystander = await addPod(one);
  const subject = one.host.addPod();
  const annotations = {
    'ovn.kubernetes.io/ip_address': '10.16.9.9,fd00:10:16::909',
    'ovn.kubernetes.io/mac_address': '00:00:00:09:09:09',
  };
  calls = await DyingCalls.begin({
    ...{ machine: one, subject, take },
    ask: (command) => askFor(one, command, subject, { annotations }),
    async checkOthers() {
      for (const address of bystander.addresses)
        assert.ok(await pings(one.host.namespace, address), 'the other pod answers');
    },
  });
});
after(async () => fixture?.close());

const list = async (prefix: string): Promise<string[]> =>
  (await fixture.etcd.control(['get', '--prefix', '--keys-only', prefix])).split('\n').filter(Boolean);

/** Of the node, its records by name, since they hold times, of the switch, the store and the logical network. */
const take = async (): Promise<Snapshot> => {
  const { switch: own } = fixture.nodes[0]!;
  const ports = await fixture.central.nbctl(
    '--bare',
    '--columns=name,addresses',
    'list',
    'Logical_Switch_Port',
  );
  return {
    ...(await takeSnapshot(one.host.namespace)),
    records: toKeys(fs.readdirSync(path.join(one.agent.stateDirectory, 'endpoints'))),
    interfaces: toKeys((await own.vsctl('--bare', '--columns=name', 'list', 'Interface')).split('\n')),
    store: toKeys([...(await list('/podwire/ovn-pods/')), ...(await list('/podwire/objects/kubeovn.io/'))]),
    logical: toKeys(ports.split('\n\n')),
  };
};

test('an ADD in which the agent dies is undone, or done', async (context) => {
  const occurrences = await calls.record(() => calls.add());
  assert.ok(occurrences.some(({ point }) => point === 'add:asked'));
  await calls.del();
  await calls.dieAtEach(occurrences, 'ADD', context);
});

test('a DEL in which the agent dies is done, or the next one does it', async (context) => {
  await calls.add();
  await calls.dieAtEach(await calls.record(() => calls.del()), 'DEL', context, () => calls.add());
});
