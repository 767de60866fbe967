/** One pod with everything on containerd: a process in it finds what the manifest asks for. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { CriRuntime } from '@podwire/cri';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { busyboxImage, startContainerd } from '@podwire/testkit/containerd';
import { createPodPreparation, kernelMounts } from '../../src/files/index.js';
import { createRunHook } from '../../src/hooks/index.js';
import { createEnsureImage, readImageUser } from '../../src/images/index.js';
import { readNode } from '../../src/node/index.js';
import type { ContainerConfigRequest } from '../../src/parts.js';
import type { Pod } from '@podwire/pod-spec';
import { performProbe } from '../../src/probes/perform.js';
import {
  buildContainerConfig,
  buildSandboxConfig,
  readContainerIdentity,
} from '../../src/runtime-config/index.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const live = new AbortController().signal;
const clock = { sleep: () => new Promise<void>(() => undefined) };
let host: PrivateHost;
let runtime: CriRuntime;
let directories: { root: string; logs: string };

before(async () => {
  host = await createPrivateHost({ name: 'requests' });
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  const ipam = { type: 'host-local', subnet: '10.97.0.0/24', dataDir: path.join(host.directory, 'ipam') };
  const network = { cniVersion: '0.4.0', name: 'requests', plugins: [{ type: 'ptp', ipam }] };
  fs.writeFileSync(path.join(confDir, '10-ptp.conflist'), JSON.stringify(network));
  ({ runtime } = await startContainerd(host, { binDir: '/usr/lib/cni', confDir }));
  directories = { root: path.join(host.directory, 'root'), logs: path.join(host.directory, 'logs') };
});

after(async () => {
  for (const target of [...(await kernelMounts.below(host.directory))].reverse()) {
    if (target.startsWith(directories.root)) kernelMounts.unmount(target);
  }
  await host.close();
});

const mount = (name: string, mountPath: string, more: { subPath?: string; readOnly?: boolean } = {}) => ({
  name,
  mountPath,
  readOnly: false,
  ...more,
});

function makeEverything(): Pod {
  const container = makeContainer({
    image: busyboxImage,
    imagePullPolicy: 'Never',
    command: ['/bin/sh', '-c', "echo '$(GREETING)' > /dev/termination-log; exec /bin/sleep 1000"],
    env: [
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
      { name: 'GREETING', value: 'termination message from $(COLOUR), $$(COLOUR)' },
    ],
    volumeMounts: [
      mount('memory', '/memory'),
      mount('disk', '/disk', { subPath: 'some/where' }),
      mount('conf', '/etc/app.conf', { subPath: 'app.conf' }),
      mount('conf', '/etc/conf'),
      mount('disk', '/readonly', { readOnly: true }),
    ],
    resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '100m' } },
    securityContext: {
      runAsUser: 1000,
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      seccompProfile: { type: 'RuntimeDefault' },
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    },
    lifecycle: { preStop: { exec: { command: ['/bin/true'] } } },
  });
  return makePod(
    {
      containers: [container],
      hostname: 'somewhere',
      hostAliases: [{ ip: '192.0.2.77', hostnames: ['friend'] }],
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.53'],
        searches: ['shop.example'],
        options: [{ name: 'ndots', value: '3' }],
      },
      securityContext: {
        fsGroup: 4711,
        runAsGroup: 2000,
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '80' }],
      },
      volumes: [
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'disk', emptyDir: {} },
        { name: 'conf', configMap: { name: 'settings' } },
      ],
    },
    { labels: { app: 'web' } },
  );
}

async function startPod(pod: Pod) {
  const node = readNode({ name: 'node-1', oomScoreAdjustment: 0 });
  const settings = { data: { colour: 'red', 'app.conf': 'configured' }, binaryData: {} };
  const preparation = createPodPreparation({
    directories,
    node,
    findConfigMap: () => Promise.resolve(settings),
  });
  const prepared = await preparation.prepare(pod, live);
  const sandbox = buildSandboxConfig(pod, 0, { ...node, resolvConfText: '' }, directories);
  const { podSandboxId } = await runtime.runPodSandbox({ config: sandbox, runtimeHandler: '' });
  const { status } = await runtime.podSandboxStatus({ podSandboxId, verbose: false });
  const addresses = [status!.network!.ip];
  const container = pod.spec.containers[0]!;
  const imageRef = await createEnsureImage()(runtime, pod, container, sandbox, live);
  const imageUser = await readImageUser(runtime, imageRef, {});
  const request: ContainerConfigRequest = {
    pod,
    container,
    attempt: 0,
    prepared,
    addresses,
    hostsFile: await preparation.writeHosts(pod, addresses),
    terminationLog: await preparation.createTerminationLog(pod, container.name, 0),
    imageRef,
    ...(imageUser !== undefined && { imageUser }),
    node,
    directories,
  };
  const config = buildContainerConfig(request);
  const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig: sandbox });
  await runtime.startContainer({ containerId });
  return { preparation, podSandboxId, containerId, address: addresses[0]!, container };
}

async function run(containerId: string, ...cmd: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await runtime.execSync({ containerId, cmd, timeout: 10n });
  return exitCode === 0 ? stdout.toString().trim() : `failed: ${stderr.toString().trim()}`;
}

test('a pod with everything', async (context) => {
  const pod = makeEverything();
  const { preparation, podSandboxId, containerId, address, container } = await startPod(pod);
  const sh = (script: string) => run(containerId, '/bin/sh', '-c', script);

  await context.test('who it is', async () => {
    assert.equal(await run(containerId, '/bin/hostname'), 'somewhere');
    const groups = await run(containerId, '/bin/busybox', 'id');
    assert.match(groups, /^uid=1000 gid=2000 groups=.*4711/);
    const status = await run(containerId, '/bin/cat', '/proc/1/status');
    assert.match(status, /NoNewPrivs:\s*1/);
    assert.match(status, /Seccomp:\s*2/, 'a filter');
    assert.match(status, /CapBnd:\s*0000000000000400/, 'all dropped, NET_BIND_SERVICE (10) added');
    assert.match(await sh('echo x > /new'), /Read-only file system/);
    assert.equal(await run(containerId, '/bin/cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '80');
  });

  await context.test('names', async () => {
    const hosts = await run(containerId, '/bin/cat', '/etc/hosts');
    assert.match(hosts, new RegExp(`^${address}\\tsomewhere$`, 'm'));
    assert.match(hosts, /^192\.0\.2\.77\tfriend$/m);
    const resolvConf = await run(containerId, '/bin/cat', '/etc/resolv.conf');
    assert.deepEqual(resolvConf.split('\n').sort(), [
      'nameserver 192.0.2.53',
      'options ndots:3',
      'search shop.example',
    ]);
    await preparation.writeHosts(pod, [address, '10.97.0.250']);
    assert.match(await run(containerId, '/bin/cat', '/etc/hosts'), /^10\.97\.0\.250\tsomewhere$/m);
  });

  await context.test('volumes', async () => {
    const mounts = await run(containerId, '/bin/cat', '/proc/mounts');
    assert.match(mounts, /^tmpfs \/memory tmpfs .*size=1024k/m);
    assert.equal(await sh('echo data > /disk/file && cat /readonly/some/where/file'), 'data');
    assert.match(await sh('echo data > /readonly/file'), /Read-only file system/);
    assert.equal(await run(containerId, '/bin/cat', '/etc/app.conf'), 'configured');
    assert.equal(await run(containerId, '/bin/cat', '/etc/conf/colour'), 'red');
    assert.match(await sh('echo x > /etc/conf/colour'), /Read-only file system/);
    assert.equal(await sh('echo -n x > /memory/file && ls /memory'), 'file', 'the group may write');
  });

  await context.test('its environment and its termination message', async () => {
    assert.equal(await sh('echo $IP'), address);
    assert.equal(
      (await preparation.readTerminationLog(pod.metadata.uid, 'main', 0)).trim(),
      'termination message from red, $(COLOUR)',
    );
  });

  await context.test('what the runtime says of it to a pod agent that has just started', async () => {
    const { status } = await runtime.containerStatus({ containerId, verbose: false });
    const identity = readContainerIdentity(status!.labels, status!.annotations);
    assert.equal(identity?.pod.uid, pod.metadata.uid);
    assert.deepEqual(identity?.preStop, container.lifecycle?.preStop);
    assert.ok(fs.existsSync(status!.logPath), status!.logPath);
  });

  await context.test('programs of probes and hooks', async () => {
    const look = (...command: string[]) =>
      performProbe(
        { action: { exec: { command } }, container, containerId, address, timeoutSeconds: 1 },
        runtime,
        live,
      );
    assert.deepEqual(await look('/bin/cat', '/disk/file'), { result: 'success', why: 'ok' });
    assert.match((await look('/bin/cat', '/nowhere')).why, /^exit code 1: .*No such file/);
    assert.deepEqual(await look('/bin/sleep', '100'), { result: 'failure', why: 'not ended within 1 s' });
    const runHook = createRunHook({ runtime, clock });
    const target = { pod, container, containerId, address };
    await runHook({ exec: { command: ['/bin/mkdir', '/disk/hooked'] } }, target, live);
    assert.equal(await run(containerId, '/bin/ls', '/disk'), 'file\nhooked');
    await assert.rejects(
      runHook({ exec: { command: ['/bin/cat', '/nowhere'] } }, target, live),
      /exit code 1/,
    );
  });

  await context.test('it goes without a trace', async () => {
    await runtime.stopPodSandbox({ podSandboxId });
    await runtime.removePodSandbox({ podSandboxId });
    await preparation.discard(pod.metadata.uid);
    assert.deepEqual(await preparation.list(), []);
    assert.deepEqual(await kernelMounts.below(directories.root), []);
    assert.deepEqual(fs.readdirSync(directories.logs), []);
  });
});
