/** A real kubelet 1.20.2 that drives our embedded runtime, with podwire-cni: no container engine is on the machine. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Snapshot, until, worldAddresses } from '@podwire/testkit';
import { createKubeletHost, fetchFrom, type KubeletHost } from './support/kubelet-host.js';
import { webPod } from './support/pods.js';

let machine: KubeletHost;
let untouched: Snapshot;

before(async () => {
  machine = await createKubeletHost({ network: 'podwire', runtime: 'embedded' });
  untouched = await machine.snapshot();
});
after(() => machine?.close());

test('a static pod reaches Running, and its log and a program in it are there', async () => {
  machine.writeManifest('web.json', webPod({ name: 'web', hostPort: 8080 }));
  const { status } = await machine.untilReady('web');
  assert.equal(status.phase, 'Running');
  assert.match(status.podIP ?? '', /^10\.244\./);
  assert.equal(await fetchFrom(machine.host.namespace, `http://${status.podIP}/`), 'web\n');
  assert.equal(await fetchFrom(machine.world, `http://${worldAddresses.host.ipv4}:8080/`), 'web\n');
  assert.equal(await until('a log', async () => (await machine.readLog('web')) || undefined), 'web serves\n');
  const { code, output } = await machine.exec('web', ['sh', '-c', 'hostname; exit 7']);
  assert.deepEqual({ code, output }, { code: 7, output: 'web-node1\n' });
});

test('the runtime is killed and started again under the kubelet: the pod is not restarted', async () => {
  const before = await machine.untilReady('web');
  await machine.service.kill9();
  await machine.service.start();
  machine.writeManifest('other.json', webPod({ name: 'other' }));
  await machine.untilReady('other');
  const now = await machine.untilReady('web');
  assert.deepEqual(now.status.podIPs, before.status.podIPs);
  assert.deepEqual(
    now.status.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
    before.status.containerStatuses?.map(({ containerID }) => [containerID, 0]),
  );
});

test('where manifests are removed nothing is left', async () => {
  for (const name of ['web', 'other']) fs.rmSync(path.join(machine.kubelet.manifests, `${name}.json`));
  for (const name of ['web', 'other']) await machine.untilGone(name);
  await machine.untilNothingIsLeft(untouched);
});
