/** Cases that a pod of the API server passes on every runtime. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { until, worldAddresses } from '@podwire/testkit';
import { type ApiHost, conditionOf } from './api-host.js';
import { fetchFrom, serves } from './kubelet-host.js';
import { type ApiPod, webPod } from './pods.js';

/** @param scheme of container ids: `containerd://…` */
export function defineCommonCases(open: () => ApiHost, scheme: string): void {
  void test('a pod that is bound to the node comes up, and its status is written back', async () => {
    const machine = open();
    const created = await machine.createPod(webPod({ name: 'web' }));
    const pod = await machine.untilReady('web');
    assert.equal(pod.metadata.uid, created.metadata.uid);
    assert.equal(pod.status.phase, 'Running');
    assert.equal(pod.status.hostIP, worldAddresses.host.ipv4);
    const [ipv4 = '', ipv6 = ''] = (pod.status.podIPs ?? []).map(({ ip }) => ip);
    assert.equal(pod.status.podIP, ipv4);
    assert.match(ipv4, /^10\.244\./);
    assert.match(ipv6, /^fd00:244:/);
    assert.equal(await fetchFrom(machine.host.namespace, `http://${ipv4}/`), 'web\n');
    const wanted = ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'PodScheduled'];
    assert.deepEqual(
      wanted.map((type) => conditionOf(pod, type)?.status),
      wanted.map(() => 'True'),
    );
    const [container] = pod.status.containerStatuses ?? [];
    assert.ok(container?.state.running !== undefined);
    assert.equal(container.containerID?.startsWith(`${scheme}://`), true, container.containerID);
    const events = await machine.events('web');
    assert.ok(events.includes('Started: Started container web'), events.join('\n'));
  });

  void test('a new label is an update: nothing is restarted', async () => {
    const machine = open();
    const before = await machine.untilReady('web');
    await machine.patchPod('web', { metadata: { labels: { colour: 'red' } } });
    // Watches are in order: when the next pod is there, this one’s label has been seen.
    await machine.createPod(webPod({ name: 'after' }));
    await machine.untilReady('after');
    const now = await machine.untilReady('web', ({ metadata }) => metadata.labels?.['colour'] === 'red');
    assert.deepEqual(identityOf(now), identityOf(before));
  });

  void test('another image is a new container in the same sandbox', async () => {
    const machine = open();
    const before = await machine.untilReady('web');
    await machine.patchPod('web', { spec: { containers: [{ name: 'web', image: otherImage(scheme) }] } });
    const now = await machine.untilReady('web', (pod) => restartsOf(pod) === 1);
    assert.notEqual(identityOf(now).container, identityOf(before).container);
    assert.deepEqual(now.status.podIPs, before.status.podIPs);
    assert.equal(await fetchFrom(machine.host.namespace, `http://${now.status.podIP}/`), 'web\n');
  });

  void test('a graceful delete: SIGTERM, the object stays until all has ended, then it disappears', async () => {
    const machine = open();
    const marks = path.join(machine.host.directory, 'marks');
    fs.mkdirSync(marks, { recursive: true });
    await machine.createPod(webPod({ name: 'polite', marks, grace: 20 }));
    await machine.createPod(webPod({ name: 'stubborn', isStubborn: true }));
    const [polite] = await Promise.all([machine.untilReady('polite'), machine.untilReady('stubborn')]);
    await machine.deletePod('polite', 20);
    await machine.deletePod('stubborn', 3);
    const ending = await machine.pod('stubborn');
    assert.equal(ending?.metadata.deletionGracePeriodSeconds, 3);
    await machine.untilGone('polite');
    assert.equal(fs.readFileSync(path.join(marks, 'polite'), 'utf8'), 'polite\n');
    assert.equal(await serves(machine.host.namespace, polite.status.podIP!), false);
    await machine.untilGone('stubborn');
    assert.ok(Date.now() >= Date.parse(ending.metadata.deletionTimestamp!), 'SIGKILL came before its time');
  });

  void test('a forced delete: the object is gone at once, and then all of it on the node', async () => {
    const machine = open();
    await machine.createPod(webPod({ name: 'forced', isStubborn: true, grace: 300 }));
    const { status } = await machine.untilReady('forced');
    await machine.deletePod('forced', 0);
    assert.equal(await machine.pod('forced'), undefined);
    await until('nothing of it runs', async () => !(await machine.podwire('ps')).includes('forced'), {
      describe: () => machine.podwire('ps'),
    });
    assert.equal(await serves(machine.host.namespace, status.podIP!), false);
  });

  void test('the same name is created again while the old one still terminates', async () => {
    const machine = open();
    await machine.createPod(webPod({ name: 'twin', text: 'old', isStubborn: true, grace: 4 }));
    const old = await machine.untilReady('twin');
    await machine.deletePod('twin', 4);
    await machine.deletePod('twin', 0);
    const { metadata } = await machine.createPod(webPod({ name: 'twin', text: 'new' }));
    const now = await machine.untilReady('twin', (pod) => pod.metadata.uid === metadata.uid);
    assert.equal(await fetchFrom(machine.host.namespace, `http://${now.status.podIP}/`), 'new\n');
    if (old.status.podIP !== now.status.podIP)
      await until(
        'the old one is gone',
        async () => !(await serves(machine.host.namespace, old.status.podIP!)),
      );
    assert.deepEqual(identityOf((await machine.pod('twin'))!), identityOf(now));
    await machine.deletePod('twin');
    await machine.untilGone('twin');
  });

  void test('the pod agent is killed and started again: pods are found, none is restarted, none was unready meanwhile', async () => {
    const machine = open();
    const before = await machine.untilReady('web');
    await machine.podlet.kill9();
    assert.equal(await fetchFrom(machine.host.namespace, `http://${before.status.podIP}/`), 'web\n');
    await machine.podlet.start();
    await machine.createPod(webPod({ name: 'later' }));
    await machine.untilReady('later');
    const now = await machine.untilReady('web');
    assert.deepEqual(identityOf(now), identityOf(before));
    // Its time says when it changed last.
    assert.deepEqual(conditionOf(now, 'Ready'), conditionOf(before, 'Ready'));
  });
}

/** The embedded runtime takes any name; for an engine it is the same image under another name. */
const otherImage = (scheme: string): string =>
  scheme === 'podwire-embedded' ? 'podwire.test/other:1' : 'podwire.test/busybox:2';

export const restartsOf = ({ status }: ApiPod): number | undefined =>
  status.containerStatuses?.[0]?.restartCount;

export const identityOf = ({ metadata, status }: ApiPod) => ({
  uid: metadata.uid,
  podIPs: status.podIPs,
  container: status.containerStatuses?.[0]?.containerID,
  restarts: status.containerStatuses?.[0]?.restartCount,
});

export async function deleteAll(machine: ApiHost, names: readonly string[]): Promise<void> {
  for (const name of names) await machine.deletePod(name);
  for (const name of names) await machine.untilGone(name);
}
