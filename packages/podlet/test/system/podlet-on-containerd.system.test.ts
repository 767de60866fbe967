/** The whole way on a real containerd: manifests in a directory become pods, through restarts and accidents. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { replaceFileSync } from '@podwire/platform';
import { createPrivateHost, type PrivateHost, run } from '@podwire/testkit';
import { busyboxImage, type Containerd, startContainerd } from '@podwire/testkit/containerd';
import {
  type Clock,
  createEnsureImage,
  createFileSource,
  createMerger,
  createPodPreparation,
  createProber,
  createRunHook,
  buildContainerConfig,
  buildSandboxConfig,
  type Podlet,
  type PodView,
  readLogTail,
  readNode,
  startPodlet,
} from '../../src/index.js';

const clock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
};
const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let host: PrivateHost;
let containerd: Containerd;
let manifests: string;
let podlet: Podlet;

before(async () => {
  host = await createPrivateHost({ name: 'podlet' });
  const confDir = path.join(host.directory, 'net.d');
  manifests = path.join(host.directory, 'manifests');
  fs.mkdirSync(confDir);
  fs.mkdirSync(manifests);
  const ipam = { type: 'host-local', subnet: '10.98.0.0/24', dataDir: path.join(host.directory, 'ipam') };
  const network = { cniVersion: '0.4.0', name: 'podlet', plugins: [{ type: 'ptp', ipam }] };
  fs.writeFileSync(path.join(confDir, '10-ptp.conflist'), JSON.stringify(network));
  containerd = await startContainerd(host, { binDir: '/usr/lib/cni', confDir });
  podlet = start();
});

after(async () => {
  await podlet.stop();
  await host.close();
});

function start(): Podlet {
  const { runtime } = containerd;
  const directories = { root: path.join(host.directory, 'root'), logs: path.join(host.directory, 'logs') };
  const node = readNode({ name: 'node-1', addresses: ['192.0.2.10'], oomScoreAdjustment: 0, resolvConf: '' });
  const findConfigMap = () => Promise.resolve(undefined);
  return startPodlet(
    {},
    {
      runtime,
      sources: [createFileSource({ path: manifests, node: node.name, nameSuffix: 'none', clock })],
      merger: createMerger(clock),
      preparation: createPodPreparation({ directories, node, findConfigMap }),
      buildSandboxConfig,
      buildContainerConfig,
      ensureImage: createEnsureImage(),
      runHook: createRunHook({ runtime, clock }),
      createProber: (options) => createProber(options),
      node,
      directories,
      clock,
      random: Math.random,
      log: silent,
      readLogTail,
    },
  );
}

/** Waits until the pods are so; what they are is part of the error when they do not come to be so. */
async function until(
  isSo: (pods: readonly PodView[]) => boolean,
  patience = 60_000,
): Promise<readonly PodView[]> {
  let leave = () => undefined as void;
  const come = new Promise<void>((resolve) => {
    leave = podlet.subscribe(() => {
      if (isSo(podlet.pods())) resolve();
    });
  });
  const late = new AbortController();
  const deadline = setTimeout(patience, undefined, { signal: late.signal }).then(
    () => assert.fail(JSON.stringify(podlet.pods(), undefined, 1)),
    () => undefined,
  );
  try {
    await Promise.race([come, deadline]);
    return podlet.pods();
  } finally {
    leave();
    late.abort();
  }
}

function write(name: string, more: object = {}, container: object = {}): void {
  const main = {
    name: 'main',
    image: busyboxImage,
    imagePullPolicy: 'Never',
    command: ['/bin/sleep', '1000'],
    ...container,
  };
  const spec = { terminationGracePeriodSeconds: 1, dnsPolicy: 'Default', containers: [main], ...more };
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
  replaceFileSync(path.join(manifests, `${name}.json`), JSON.stringify(manifest));
}

const drop = (name: string) => fs.rmSync(path.join(manifests, `${name}.json`));
const isReady = (pod: PodView | undefined) =>
  pod?.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const find = (pods: readonly PodView[], name: string) => pods.find((pod) => pod.name === name);

test('a manifest becomes a pod that can be reached', async () => {
  write(
    'web',
    {},
    {
      command: [
        '/bin/sh',
        '-c',
        'mkdir /tmp/www; echo hello >/tmp/www/index.html; exec httpd -f -p 80 -h /tmp/www',
      ],
      // A container that runs does not listen yet.
      readinessProbe: {
        periodSeconds: 1,
        exec: { command: ['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1/'] },
      },
    },
  );
  const web = find(await until((pods) => isReady(find(pods, 'web'))), 'web');
  const address = web?.status.podIP ?? '';
  assert.match(address, /^10\.98\.0\./);
  const answer = await host.run(['busybox', 'wget', '-q', '-O', '-', `http://${address}/`]);
  assert.equal(answer, 'hello\n');
  const names = podlet.trace(web?.uid ?? '').map(({ name }) => name);
  for (const name of ['source', 'RunPodSandbox', 'StartContainer', 'pod default/web'])
    assert.ok(names.includes(name), name);
});

test('a restart of the podlet changes nothing; what was removed meanwhile goes', async () => {
  write('short');
  const before = find(await until((pods) => isReady(find(pods, 'short'))), 'web');
  await podlet.stop();
  drop('short');
  podlet = start();
  const pods = await until((all) => isReady(find(all, 'web')));
  assert.equal(find(pods, 'web')?.containers[0]?.containerID, before?.containers[0]?.containerID);
  await untilSandboxes(1);
});

test('a sandbox that is killed is replaced', async () => {
  const before = find(podlet.pods(), 'web')?.sandboxId ?? '';
  await run([
    'ctr',
    '--address',
    containerd.socket,
    '--namespace',
    'k8s.io',
    'task',
    'kill',
    '--signal',
    '9',
    before,
  ]);
  const after = find(
    await until((pods) => isReady(find(pods, 'web')) && find(pods, 'web')?.sandboxId !== before),
    'web',
  );
  assert.equal(after?.containers[0]?.restartCount, 1);
  assert.ok(after?.events.some(({ reason }) => reason === 'SandboxChanged'));
});

test('an edited manifest replaces its pod', async () => {
  const before = find(podlet.pods(), 'web')?.uid;
  write('web', {}, { command: ['/bin/sleep', '2000'] });
  await until((pods) => pods.length === 1 && isReady(pods[0]) && pods[0]?.uid !== before);
});

test('containerd is started anew: pods stay, and others come and go', async () => {
  const before = find(podlet.pods(), 'web')?.containers[0]?.containerID;
  await containerd.restart();
  write('later');
  const pods = await until((all) => isReady(find(all, 'later')));
  assert.equal(find(pods, 'web')?.containers[0]?.containerID, before);
  drop('later');
  await until((all) => find(all, 'later') === undefined);
});

test('init containers, a sidecar and termination message', async () => {
  const busybox = { image: busyboxImage, imagePullPolicy: 'Never' };
  const initContainers = [
    { ...busybox, name: 'one', command: ['/bin/sh', '-c', 'exit 0'] },
    { ...busybox, name: 'proxy', command: ['/bin/sleep', '1000'], restartPolicy: 'Always' },
  ];
  const command = ['/bin/sh', '-c', 'echo it is done >/dev/termination-log; exit 3'];
  write('job', { initContainers, restartPolicy: 'Never' }, { command });
  const job = find(await until((pods) => find(pods, 'job')?.stage === 'terminated'), 'job');
  assert.equal(job?.status.phase, 'Failed', JSON.stringify(job, undefined, 1));
  const [main] = job?.status.containerStatuses ?? [];
  assert.deepEqual([main?.state.terminated?.exitCode, main?.state.terminated?.message], [3, 'it is done\n']);
});

test('fifty pods at once come up, and go', async () => {
  const patience = 240_000;
  const names = Array.from({ length: 50 }, (_, index) => `many-${index}`);
  for (const name of names) write(name);
  const pods = await until((all) => names.every((name) => isReady(find(all, name))), patience);
  assert.equal(new Set(names.map((name) => find(pods, name)?.status.podIP)).size, 50);
  for (const name of names) drop(name);
  await until((all) => all.every(({ name }) => !name.startsWith('many-')), patience);
});

test('nothing is left when nothing is wanted', async () => {
  for (const file of fs.readdirSync(manifests)) fs.rmSync(path.join(manifests, file));
  await until((pods) => pods.length === 0);
  await untilSandboxes(0);
  const { containers } = await containerd.runtime.listContainers({});
  assert.deepEqual(containers, []);
  assert.deepEqual(fs.readdirSync(path.join(host.directory, 'root', 'pods')), []);
  const leases = fs
    .readdirSync(path.join(host.directory, 'ipam', 'podlet'))
    .filter((name) => name.startsWith('10.'));
  assert.deepEqual(leases, []);
});

/** Orphans are no pods of the podlet, so the runtime itself is asked. */
async function untilSandboxes(count: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { items } = await containerd.runtime.listPodSandbox({});
    if (items.length === count) return;
    assert.ok(attempt < 300, `${items.length} sandboxes instead of ${count}`);
    await setTimeout(100);
  }
}
