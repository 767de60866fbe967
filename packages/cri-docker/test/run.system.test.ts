import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerConfig, ContainerState, PodSandboxState } from '@podwire/cri';
import { busyboxImage } from '@podwire/testkit/containerd';
import { createSandboxHost, podConfig, type SandboxHost } from './support/harness.js';

let machine: SandboxHost;
before(async () => {
  machine = await createSandboxHost({ name: 'run' });
});
after(() => machine.close());

test('a sandbox is made in all its steps, gets a network and gives it back', async () => {
  const { cri, docker } = machine;
  const config = podConfig('web', {
    labels: { app: 'web', 'io.kubernetes.pod.name': 'web' },
    annotations: { note: 'kept' },
    dnsConfig: { servers: ['10.10.10.10'], searches: ['example.com', 'cluster.local'], options: ['ndots:8'] },
    portMappings: [{ protocol: 0, containerPort: 80, hostPort: 8080, hostIp: '' }],
  });
  const { podSandboxId: id } = await cri.runPodSandbox({ config, runtimeHandler: '' });

  const found = await docker.inspect(id);
  assert.equal(found?.Name, '/k8s_POD_web_default_uid-web_0');
  assert.equal(found.Config.Labels['io.kubernetes.docker.type'], 'podsandbox');
  assert.equal(found.Config.Labels['io.kubernetes.container.name'], 'POD');
  assert.equal(found.Config.Labels['annotation.note'], 'kept');
  assert.equal(found.HostConfig.NetworkMode, 'none');
  assert.equal(found.HostConfig.IpcMode, 'shareable');
  assert.equal(found.Config.Hostname, 'web');
  assert.equal(
    fs.readFileSync(found.ResolvConfPath, 'utf8'),
    'nameserver 10.10.10.10\nsearch example.com cluster.local\noptions ndots:8\n',
  );
  const checkpoint = JSON.parse(fs.readFileSync(path.join(machine.root, 'sandbox', id), 'utf8')) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    { ...checkpoint, checksum: typeof checkpoint['checksum'] },
    {
      version: 'v1',
      name: 'web',
      namespace: 'default',
      data: { port_mappings: [{ protocol: 'tcp', container_port: 80, host_port: 8080 }] },
      checksum: 'number',
    },
  );

  const { status } = await cri.podSandboxStatus({ podSandboxId: id, verbose: false });
  assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
  assert.deepEqual(status.annotations, { note: 'kept' });
  assert.deepEqual(status.labels, { app: 'web', 'io.kubernetes.pod.name': 'web' });
  assert.deepEqual(machine.leases(), [status.network?.ip]);
  assert.deepEqual(machine.pinned(), [`podwire-${id}`]);

  await cri.stopPodSandbox({ podSandboxId: id });
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(machine.pinned(), []);
  assert.deepEqual(await machine.links(), []);
  await cri.removePodSandbox({ podSandboxId: id });
  assert.deepEqual(await docker.containers(), []);
  assert.deepEqual(fs.readdirSync(path.join(machine.root, 'sandbox')), []);
});

test('a container joins its sandbox, writes its log and ends', async () => {
  const { cri, host } = machine;
  const logDirectory = path.join(host.directory, 'logs', 'job');
  const config = podConfig('job', { logDirectory });
  const { podSandboxId } = await cri.runPodSandbox({ config, runtimeHandler: '' });
  const { status: sandbox } = await cri.podSandboxStatus({ podSandboxId, verbose: false });
  const { containerId } = await cri.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: ContainerConfig.fromPartial({
      metadata: { name: 'main', attempt: 2 },
      image: { image: busyboxImage },
      command: ['/bin/sh', '-c', 'ip -4 addr show dev eth0; echo to stderr >&2; hostname; exit 3'],
      logPath: 'main/2.log',
    }),
  });
  await cri.startContainer({ containerId });
  const status = await untilExited(containerId);
  assert.equal(status.exitCode, 3);
  assert.equal(status.reason, 'Error');
  assert.equal(status.metadata?.attempt, 2);
  assert.equal(status.logPath, path.join(logDirectory, 'main/2.log'));
  const log = fs.readFileSync(status.logPath, 'utf8');
  assert.match(log, new RegExp(` stdout F .*inet ${sandbox?.network?.ip.replaceAll('.', '\\.')}/24`));
  assert.match(log, /^\S+Z stderr F to stderr$/m);
  assert.match(log, /^\S+Z stdout F job$/m);
  await cri.stopPodSandbox({ podSandboxId });
  await cri.removePodSandbox({ podSandboxId });
  assert.deepEqual(await machine.docker.containers(), []);
});

/**
 * Docker says so only where containerd has told it, and containerd does not where the container runs out of memory before it
 * watches, or ends before it looks (containerd #8180, #8893). So a child goes first, once the start has been answered, and the
 * container itself when Docker knows.
 */
test('a container that takes more memory than it may was killed for that', async () => {
  const { cri, host } = machine;
  const gate = path.join(host.directory, 'gate');
  await host.run(['mkfifo', gate]);
  const opener = fs.openSync(gate, 'r+');
  const greed = '/bin/busybox dd if=/dev/zero of=/dev/null bs=64M count=4';
  const config = podConfig('greedy');
  const { podSandboxId } = await cri.runPodSandbox({ config, runtimeHandler: '' });
  const { containerId } = await cri.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: ContainerConfig.fromPartial({
      metadata: { name: 'main' },
      image: { image: busyboxImage },
      command: ['/bin/sh', '-c', `exec 3</gate; read -r _ <&3; ${greed}; read -r _ <&3; exec ${greed}`],
      mounts: [{ hostPath: gate, containerPath: '/gate' }],
      linux: { resources: { memoryLimitInBytes: BigInt(16 << 20) } },
    }),
  });
  await cri.startContainer({ containerId });
  fs.writeSync(opener, 'the child\n');
  await untilOutOfMemory(containerId);
  assert.equal((await look(containerId))?.state, ContainerState.CONTAINER_RUNNING);
  fs.writeSync(opener, 'the container\n');
  const status = await untilExited(containerId);
  assert.deepEqual([status.reason, status.exitCode], ['OOMKilled', 137]);
  fs.closeSync(opener);
  await cri.removePodSandbox({ podSandboxId });
});

/** Docker's own event; `since` has it tell those that came before the question too. */
async function untilOutOfMemory(containerId: string): Promise<void> {
  const filters = JSON.stringify({ container: [containerId], event: ['oom'] });
  const request = http.get({
    socketPath: machine.docker.socket,
    path: `/events?${new URLSearchParams({ since: '0', filters }).toString()}`,
    signal: AbortSignal.timeout(30_000),
  });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'data');
    response.destroy();
  } catch (cause) {
    throw new Error('Docker does not say that memory ran out', { cause });
  }
}

async function untilExited(containerId: string): Promise<NonNullable<Awaited<ReturnType<typeof look>>>> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const status = await look(containerId);
    if (status?.state === ContainerState.CONTAINER_EXITED) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the container does not end');
}

async function look(containerId: string) {
  return (await machine.cri.containerStatus({ containerId, verbose: false })).status;
}
