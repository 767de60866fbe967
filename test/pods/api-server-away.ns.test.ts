/** An API server that is away keeps no static pod from coming or going (kubernetes #88402), and takes no pod of its own away. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PodView } from '@podwire/podlet';
import { type ApiServer, startApiServer } from './support/api-server.js';
import { webPod } from './support/manifests.js';
import { createPodMachine, type PodMachine } from './support/pod-machine.js';

let machine: PodMachine;
let server: ApiServer;
before(async () => {
  machine = await createPodMachine({
    name: 'api',
    server: async (host) => (server = await startApiServer(host)).url,
  });
});
after(() => machine.close());

const names = (pods: readonly PodView[]): string[] => pods.map(({ name }) => name).sort();

test('static pods come and go while the API server is away, and its own pods stay', async () => {
  server.put(webPod('bound', { nodeName: 'node1' }));
  const bound = await machine.untilServing('bound');
  assert.equal(bound.source, 'api');
  machine.write('early.json', webPod('early'));
  await machine.untilServing('early');

  server.goAway();
  machine.write('late.json', webPod('late'));
  await machine.untilServing('late');
  machine.drop('early.json');
  await machine.untilGone('early');
  assert.equal((await machine.addresses()).length, 2);
  assert.equal((await machine.untilServing('bound')).sandboxId, bound.sandboxId);
});

test('a pod agent that starts while it is away takes down what no file wants, and leaves the API’s pods alone', async () => {
  const address = (await machine.untilServing('bound')).status.podIP!;
  await machine.podAgent.kill9();
  machine.drop('late.json');
  machine.write('new.json', webPod('new'));
  await machine.podAgent.start();
  const { status } = await machine.untilServing('new');
  // The pod without a file is found by housekeeping, and is in no list.
  await machine.untilAddresses(address, status.podIP);
  assert.deepEqual(names(await machine.until('the static one', (pods) => pods.length === 1)), ['new']);
  assert.equal(await machine.fetch(address), 'bound\n');
});
