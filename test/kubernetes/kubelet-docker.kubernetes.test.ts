/** A real kubelet 1.20.2 that drives our sandbox service (CRI v1alpha2) over Docker Engine, with podwire-cni. */
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
  machine = await createKubeletHost({ network: 'podwire', runtime: 'docker' });
  untouched = await machine.snapshot();
});
after(() => machine?.close());

const hostAddress = worldAddresses.host.ipv4;

test('a static pod reaches Running with our addresses, over the network and over its host port', async () => {
  machine.writeManifest('web.json', webPod({ name: 'web', hostPort: 8080 }));
  const { status } = await machine.untilReady('web');
  assert.equal(status.phase, 'Running');
  const [ipv4 = '', ipv6 = ''] = (status.podIPs ?? []).map(({ ip }) => ip);
  assert.equal(ipv4, status.podIP);
  assert.match(ipv4, /^10\.244\./);
  assert.match(ipv6, /^fd00:244:/);
  for (const address of [ipv4, `[${ipv6}]`])
    assert.equal(await fetchFrom(machine.host.namespace, `http://${address}/`), 'web\n');
  assert.equal(await fetchFrom(machine.world, `http://${hostAddress}:8080/`), 'web\n');
});

test('the kubelet shows the container’s log', async () => {
  const log = await until('a log', async () => (await machine.readLog('web')) || undefined);
  assert.equal(log, 'web serves\n');
});

test('the kubelet passes exec on to our streaming server, over SPDY and over WebSocket', async () => {
  for (const transport of ['spdy', 'websocket'] as const) {
    const { code, output } = await machine.exec('web', ['sh', '-c', 'echo "$HOSTNAME"; exit 7'], {
      transport,
    });
    assert.deepEqual({ code, output }, { code: 7, output: 'web-node1\n' }, transport);
  }
  const echoed = await machine.exec('web', ['cat'], { transport: 'spdy', input: 'through three programs' });
  assert.deepEqual(echoed, { code: 0, output: 'through three programs' });
});

test('the kubelet passes a port on, through our streaming server into the pod', async () => {
  const asked = 'GET / HTTP/1.0\r\n\r\n';
  assert.match(await machine.forward('web', 80, asked), /^HTTP\/1\.[01] 200 OK\r\n[^]*\r\n\r\nweb\n$/);
});

test('a second pod is added, and the two reach each other', async () => {
  machine.writeManifest('other.json', webPod({ name: 'other' }));
  const { status } = await machine.untilReady('other');
  const answer = await machine.exec('web', ['wget', '-qO-', `http://${status.podIP}/`]);
  assert.deepEqual(answer, { code: 0, output: 'other\n' });
});

test('kill -9 of the sandbox service under the kubelet: the pod goes on, and nothing is restarted', async () => {
  const before = await machine.untilReady('web');
  await machine.service.kill9();
  assert.equal(await fetchFrom(machine.host.namespace, `http://${before.status.podIP}/`), 'web\n');
  await until('the kubelet has noticed', () =>
    /runtime.*(down|not ready|refused|Unavailable)/i.test(machine.kubelet.log()),
  );
  await machine.service.start();
  // That the next pod comes up shows that the kubelet has seen the runtime again, and all that runs there.
  machine.writeManifest('third.json', webPod({ name: 'third' }));
  await machine.untilReady('third');
  const now = await machine.untilReady('web');
  assert.equal(now.metadata.uid, before.metadata.uid);
  assert.deepEqual(now.status.podIPs, before.status.podIPs);
  assert.deepEqual(
    now.status.containerStatuses?.map(({ containerID, restartCount }) => ({ containerID, restartCount })),
    before.status.containerStatuses?.map(({ containerID }) => ({ containerID, restartCount: 0 })),
  );
  const { output } = await machine.exec('web', ['echo', 'over the new streaming server']);
  assert.equal(output, 'over the new streaming server\n');
});

test('a killed sandbox is made again, with its network', async () => {
  const sandbox = (await machine.docker!.containers()).find(
    ({ name, state }) => name.startsWith('k8s_POD_third-') && state === 'running',
  );
  await machine.docker!.call('POST', `/containers/${sandbox?.id}/kill?signal=KILL`);
  const { status } = await machine.untilReady(
    'third',
    ({ status: { containerStatuses } }) => containerStatuses?.[0]?.restartCount === 1,
  );
  assert.equal(await fetchFrom(machine.host.namespace, `http://${status.podIP}/`), 'third\n');
});

test('a pod with guaranteed resources runs in the control group that the kubelet made, with its limits', async () => {
  const limits = { cpu: '100m', memory: '32Mi' };
  machine.writeManifest('limited.json', webPod({ name: 'limited', limits }));
  const { metadata } = await machine.untilReady('limited');
  const containers = await machine.docker!.containers();
  const { id } =
    containers.find(({ name }) => name.startsWith('k8s_web_limited-')) ?? assert.fail('a container');
  const { HostConfig } = (await machine.docker!.inspect(id))!;
  assert.equal(HostConfig['CgroupParent'], `${machine.host.controlGroup}/kubepods/pod${metadata.uid}`);
  assert.equal(HostConfig['Memory'], 32 * 1024 * 1024);
  assert.equal(HostConfig['CpuQuota'], 10_000);
});

test('an edited manifest replaces its pod, also where it keeps the host port', async () => {
  const before = await machine.untilReady('web');
  machine.writeManifest('web.json', webPod({ name: 'web', text: 'edited', hostPort: 8080 }));
  const now = await machine.untilReady('web', ({ metadata: { uid } }) => uid !== before.metadata.uid);
  assert.equal(await fetchFrom(machine.host.namespace, `http://${now.status.podIP}/`), 'edited\n');
  assert.equal(await fetchFrom(machine.world, `http://${hostAddress}:8080/`), 'edited\n');
});

test('where manifests are removed nothing is left: no container, address, namespace, record', async () => {
  const names = ['web', 'other', 'third', 'limited'];
  for (const name of names) fs.rmSync(path.join(machine.kubelet.manifests, `${name}.json`));
  for (const name of names) await machine.untilGone(name);
  await machine.untilNothingIsLeft(untouched);
});
