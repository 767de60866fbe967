/** A real kube-apiserver 1.20.2 as the source of pods: our pod agent, with the embedded runtime. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Snapshot, until, untilSameSnapshot } from '@podwire/testkit';
import { defineCommonCases, deleteAll, identityOf, restartsOf } from './support/api-cases.js';
import { type ApiHost, conditionOf, createApiHost } from './support/api-host.js';
import { fetchFrom, serves } from './support/kubelet-host.js';
import { type Manifest, webPod } from './support/pods.js';

let machine: ApiHost;
let untouched: Snapshot;

before(async () => {
  machine = await createApiHost({ runtime: 'embedded' });
  untouched = await machine.snapshot();
});
after(() => machine?.close());

defineCommonCases(() => machine, 'podwire-embedded');

/** The whole machine, as seen through the pod agent's own command. */
const listed = (): Promise<string> => machine.podwire('ps');

test('without the API server pods go on, and pods of files still come and go', async () => {
  const before = await machine.untilReady('web');
  await machine.api.kill9();
  assert.equal(await fetchFrom(machine.host.namespace, `http://${before.status.podIP}/`), 'web\n');

  const file = path.join(machine.manifests, 'static.json');
  fs.writeFileSync(file, JSON.stringify(webPod({ name: 'static', hostPort: 8088 })));
  await until('the static pod serves', () => serves(machine.host.namespace, '192.0.2.10', 8088), {
    describe: () => machine.podlet.log().slice(-3000),
  });
  fs.rmSync(file);
  await until('the static pod is gone', async () => !(await listed()).includes('static'), {
    describe: listed,
  });
  assert.equal(await serves(machine.host.namespace, '192.0.2.10', 8088), false);

  await machine.api.start();
  await machine.createPod(webPod({ name: 'afterwards' }));
  await machine.untilReady('afterwards');
  assert.deepEqual(identityOf(await machine.untilReady('web')), identityOf(before));
});

test('a pod of a file that was ready is ready after a restart of the pod agent, until its probe says otherwise', async () => {
  const { spec, ...rest } = webPod({ name: 'static' });
  const [container] = spec['containers'] as [Record<string, unknown>];
  // It succeeds once, and its failures do not count for a long time.
  const once = { exec: { command: ['mkdir', '/tmp/once'] } };
  const readinessProbe = { ...once, periodSeconds: 1, failureThreshold: 1_000 };
  const pod = { ...rest, spec: { ...spec, containers: [{ ...container, readinessProbe }] } };
  const file = path.join(machine.manifests, 'static.json');
  fs.writeFileSync(file, JSON.stringify(pod));
  const isReady = async (): Promise<boolean> => /\bstatic\b\S*\s+1\/1/.test(await listed());
  await until('it is ready', isReady, { describe: listed });
  await machine.podlet.kill9();
  await machine.podlet.start();
  await until('it is ready again', isReady, { describe: listed });
  fs.rmSync(file);
  await until('it is gone', async () => !(await listed()).includes('static'), { describe: listed });
});

test('what happens to a pod while the API server is away is written as soon as it is back', async () => {
  const before = await machine.untilReady('web');
  await machine.api.kill9();
  // A moment later, since all that runs in a container ends with its first process.
  await machine.podwire(
    'exec',
    'web',
    '--',
    'sh',
    '-c',
    '(sleep 1; kill -TERM 1) > /dev/null 2>&1 < /dev/null &',
  );
  await until('it is restarted', async () => /\bweb\b.*\b2\b/.test(await listed()), { describe: listed });
  await machine.api.start();
  const now = await machine.untilReady('web', (pod) => restartsOf(pod) === 2);
  assert.equal(now.metadata.uid, before.metadata.uid);
});

test('history that is lost (410) means to list again: what was missed is made up for', async () => {
  await machine.createPod(webPod({ name: 'missed' }));
  await machine.untilReady('missed');
  process.kill(machine.podlet.pid(), 'SIGSTOP');
  const known = await machine.api.rest.get<{ metadata: { resourceVersion: string } }>('/api/v1/pods');
  await machine.deletePod('missed', 0);
  const { metadata } = await machine.createPod(webPod({ name: 'missed', text: 'made anew' }));
  await machine.createPod(webPod({ name: 'new' }));
  await machine.api.compact();
  await machine.api.kill9();
  // A server that starts knows nothing of before: it answers 410 to a watch from there.
  await machine.api.start();
  const watch = `watch=1&timeoutSeconds=1&resourceVersion=${known.metadata.resourceVersion}`;
  const refused = await machine.api.rest.get(`/api/v1/pods?${watch}`);
  assert.equal((refused as { object?: { code: number } }).object?.code, 410, 'the server still knows');
  process.kill(machine.podlet.pid(), 'SIGCONT');
  await machine.untilReady('new');
  const now = await machine.untilReady('missed', (pod) => pod.metadata.uid === metadata.uid);
  assert.equal(await fetchFrom(machine.host.namespace, `http://${now.status.podIP}/`), 'made anew\n');
});

test('a pod that cannot be carried out says why, in its status and in an event', async () => {
  const { spec, ...rest } = webPod({ name: 'no-command' });
  const [container] = spec['containers'] as [Record<string, unknown>];
  const pod: Manifest = { ...rest, spec: { ...spec, containers: [{ ...container, command: undefined }] } };
  await machine.createPod(pod);
  const waiting = await machine.until('no-command', 'says why', ({ status }) => {
    const message = status.containerStatuses?.[0]?.state.waiting?.message ?? '';
    return /command/.test(message);
  });
  assert.equal(waiting.status.phase, 'Pending');
  assert.equal(conditionOf(waiting, 'ContainersReady')?.reason, 'ContainersNotReady');
  await until(
    'an event',
    async () => (await machine.events('no-command')).some((each) => /command/.test(each)),
    {
      describe: () => machine.events('no-command'),
    },
  );
  await deleteAll(machine, ['no-command']);
});

test('a pod on the network of a node with several addresses of a family has one of each', async () => {
  await machine.host.run(['ip', 'address', 'add', '192.0.2.77/24', 'dev', 'eth0']);
  try {
    const { spec, ...rest } = webPod({ name: 'on-host' });
    const [{ readinessProbe: _, ...container }] = spec['containers'] as [Record<string, unknown>];
    const sleeping = { ...container, command: ['sleep', '1000'] };
    await machine.createPod({ ...rest, spec: { ...spec, hostNetwork: true, containers: [sleeping] } });
    const { status } = await machine.untilReady('on-host');
    const families = (status.podIPs ?? []).map(({ ip }) => ip.includes(':'));
    assert.deepEqual(families, [false, true]);
    assert.equal(status.podIP, status.hostIP);
  } finally {
    await machine.host.run(['ip', 'address', 'delete', '192.0.2.77/24', 'dev', 'eth0']);
    await deleteAll(machine, ['on-host']);
  }
});

test('a pod that has done its work is Succeeded', async () => {
  const { spec, ...rest } = webPod({ name: 'job' });
  const [{ readinessProbe: _, ...container }] = spec['containers'] as [Record<string, unknown>];
  const containers = [{ ...container, command: ['sh', '-c', 'echo done'] }];
  await machine.createPod({ ...rest, spec: { ...spec, restartPolicy: 'Never', containers } });
  const { status } = await machine.until('job', 'has ended', (pod) => pod.status.phase === 'Succeeded');
  assert.deepEqual(
    status.containerStatuses?.map(({ state }) => [state.terminated?.exitCode, state.terminated?.reason]),
    [[0, 'Completed']],
  );
  await deleteAll(machine, ['job']);
});

test('where a finalizer keeps the object, the last status is in it, and it goes with the finalizer', async () => {
  const { metadata, ...rest } = webPod({ name: 'finalized' });
  const finalizers = ['podwire.io/test'];
  await machine.createPod({ ...rest, metadata: { ...metadata, finalizers } });
  await machine.untilReady('finalized');
  await machine.deletePod('finalized', 2);
  const last = await machine.until(
    'finalized',
    'is over on the node',
    (pod) => pod.metadata.deletionGracePeriodSeconds === 0,
  );
  assert.equal(last.status.containerStatuses?.[0]?.state.terminated?.exitCode, 0);
  assert.equal(last.status.phase, 'Succeeded');
  assert.equal(conditionOf(last, 'Ready')?.status, 'False');
  await machine.patchPod('finalized', { metadata: { finalizers: null } });
  await machine.untilGone('finalized');
});

test('a pod whose host port another pod has is refused, as by the kubelet; free again, the next one gets it', async () => {
  await machine.createPod(webPod({ name: 'holds-port', hostPort: 8099 }));
  await machine.untilReady('holds-port');
  await machine.createPod(webPod({ name: 'wants-port', hostPort: 8099 }));
  const refused = await machine.until('wants-port', 'is refused', (pod) => pod.status.phase === 'Failed');
  assert.equal(refused.status.reason, 'NodePorts');
  assert.match(refused.status.message ?? '', /TCP port 8099 is taken by pod default\/holds-port/);
  await deleteAll(machine, ['holds-port', 'wants-port']);
  await machine.createPod(webPod({ name: 'wants-port', hostPort: 8099 }));
  await machine.untilReady('wants-port');
  await deleteAll(machine, ['wants-port']);
});

test('a ConfigMap of the API server: its pod waits for it, says so, and finds it as a file', async () => {
  const { spec, ...rest } = webPod({ name: 'configured' });
  const [container] = spec['containers'] as [Record<string, unknown>];
  const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
  const mounted = { ...container, volumeMounts: [{ name: 'settings', mountPath: '/settings' }] };
  await machine.createPod({ ...rest, spec: { ...spec, volumes, containers: [mounted] } });
  await until(
    'an event says what is missing',
    async () => (await machine.events('configured')).some((each) => /FailedMount.*settings/.test(each)),
    { describe: () => machine.events('configured') },
  );
  const settings = { metadata: { name: 'settings' }, data: { colour: 'red' } };
  await machine.api.rest.post('/api/v1/namespaces/default/configmaps', settings);
  await machine.untilReady('configured');
  const told = await machine.events('configured');
  assert.equal(new Set(told).size, told.length, `the same is told more than once: ${told.join('\n')}`);
  assert.equal(await machine.podwire('exec', 'configured', '--', 'cat', '/settings/colour'), 'red');
  await deleteAll(machine, ['configured']);
});

test('without a network the condition PodReadyToStartContainers says why, and the pod comes up when there is one', async () => {
  const conf = path.join(machine.host.directory, 'net.d');
  fs.renameSync(conf, `${conf}.away`);
  await machine.podlet.kill9();
  await machine.podlet.start();
  await machine.createPod(webPod({ name: 'unconnected' }));
  const waiting = await machine.until('unconnected', 'says that there is no network', (pod) =>
    /network/i.test(conditionOf(pod, 'PodReadyToStartContainers')?.message ?? ''),
  );
  assert.equal(conditionOf(waiting, 'PodReadyToStartContainers')?.status, 'False');
  fs.renameSync(`${conf}.away`, conf);
  await machine.untilReady('unconnected');
});

test('when all pods are deleted nothing is left', async () => {
  await deleteAll(machine, ['web', 'after', 'later', 'afterwards', 'missed', 'new', 'unconnected']);
  await untilSameSnapshot(untouched, () => machine.snapshot(), {
    ignore: [/^routes\/blackhole /, /podlet\/pods$/],
    timeout: 20_000,
  });
});
