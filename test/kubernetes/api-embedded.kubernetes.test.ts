/** A real kube-apiserver 1.20.2 as the source of pods: our pod agent, with the embedded runtime. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { worldAddresses } from '@podwire/testkit';
import { type ApiHost, conditionOf, createApiHost } from './api-host.js';
import { fetchFrom } from './kubelet-host.js';
import { webPod } from './pods.js';

let machine: ApiHost;

before(async () => {
  machine = await createApiHost({ runtime: 'embedded' });
});
after(() => machine?.close());

test('a pod that is bound to the node comes up, and its status is written back', async () => {
  const created = await machine.createPod(webPod({ name: 'web' }));
  const { metadata, status } = await machine.untilReady('web');
  assert.equal(metadata.uid, created.metadata.uid);
  assert.equal(status.phase, 'Running');
  assert.equal(status.hostIP, worldAddresses.host.ipv4);
  const [ipv4 = '', ipv6 = ''] = (status.podIPs ?? []).map(({ ip }) => ip);
  assert.equal(status.podIP, ipv4);
  assert.match(ipv4, /^10\.244\./);
  assert.match(ipv6, /^fd00:244:/);
  assert.equal(await fetchFrom(machine.host.namespace, `http://${ipv4}/`), 'web\n');
  console.log(JSON.stringify(status, null, 1), await machine.events('web'));
  assert.equal(conditionOf({ metadata, status }, 'PodReadyToStartContainers')?.status, 'True');
});
