/** A service on an engine whose pods another one runs: they live on, and are adopted only where that is asked for. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerConfig, PodSandboxState } from '@podwire/cri';
import { busyboxImage, pauseImage } from '@podwire/testkit/containerd';
import { createSandboxHost, podConfig, type SandboxHost } from './support/harness.js';

let machine: SandboxHost;
before(async () => {
  machine = await createSandboxHost({ name: 'hand' });
});
after(() => machine.close());

const at = (name: string): string => path.join(machine.host.directory, name);
const cniOf = (stateDirectory: string) => ({
  configDirectory: at('net.d'),
  pluginPath: [at('bin'), '/usr/lib/cni'],
  stateDirectory,
  bootIdFile: at('boot-id'),
});

/** As the other service has it: a pod with its network and a container that writes a log. */
async function runPod(): Promise<{ readonly sandbox: string; readonly container: string }> {
  const config = podConfig('web', { logDirectory: at('logs') });
  const { podSandboxId } = await machine.cri.runPodSandbox({ config, runtimeHandler: '' });
  const { containerId } = await machine.cri.createContainer({
    podSandboxId,
    config: ContainerConfig.fromPartial({
      metadata: { name: 'main' },
      image: { image: busyboxImage },
      command: ['/bin/busybox', 'sleep', '3600'],
      logPath: 'main.log',
    }),
    sandboxConfig: config,
  });
  await machine.cri.startContainer({ containerId });
  return { sandbox: podSandboxId, container: containerId };
}

/** With dockershim's names and labels and nothing of Podwire's. */
async function runLikeDockershim(): Promise<string> {
  const { body } = await machine.docker.call('POST', '/containers/create?name=k8s_POD_old_default_u_0', {
    Image: pauseImage,
    Labels: { 'io.kubernetes.docker.type': 'podsandbox', 'io.kubernetes.container.name': 'POD' },
    HostConfig: { NetworkMode: 'none' },
  });
  const { Id } = JSON.parse(body) as { Id: string };
  const { status } = await machine.docker.call('POST', `/containers/${Id}/start`);
  assert.equal(status, 204);
  return Id;
}

const statesOf = async (ids: readonly string[]): Promise<(boolean | undefined)[]> =>
  Promise.all(ids.map(async (id) => (await machine.docker.inspect(id))?.State.Running));

test('pods of another service go on; with --take-over they are this service’s, with their addresses', async () => {
  const { sandbox, container } = await runPod();
  const old = await runLikeDockershim();
  const leases = machine.leases();
  assert.equal(leases.length, 1);
  await machine.service.stop();

  machine.service.reconfigure({ root: at('other'), cni: cniOf(at('other-cni')) });
  await machine.service.start();
  assert.deepEqual((await machine.cri.listPodSandbox({ filter: undefined })).items, []);
  assert.deepEqual((await machine.cri.listContainers({ filter: undefined })).containers, []);
  await machine.cri.stopPodSandbox({ podSandboxId: sandbox });
  await assert.rejects(
    machine.cri.runPodSandbox({ config: podConfig('web'), runtimeHandler: '' }),
    /--take-over/,
  );
  assert.deepEqual(await statesOf([sandbox, container, old]), [true, true, true]);
  assert.deepEqual(machine.leases(), leases);
  await machine.service.stop();

  machine.service.reconfigure({ takeOverFrom: at('cni/cache') });
  await machine.service.start();
  assert.deepEqual(await statesOf([sandbox, container, old]), [true, true, true]);
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  assert.deepEqual(items.map(({ id }) => id).sort(), [sandbox, old].sort());
  const { status } = await machine.cri.podSandboxStatus({ podSandboxId: sandbox, verbose: false });
  assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
  assert.equal(status.network?.ip, leases[0]);
  assert.equal((await machine.cri.listContainers({ filter: undefined })).containers[0]?.id, container);
  assert.equal(fs.existsSync(at(`netns/podwire-${sandbox}`)), true);

  await machine.service.stop();
  machine.service.reconfigure({ takeOverFrom: undefined });
  await machine.service.start();
  assert.deepEqual(await statesOf([sandbox, container, old]), [true, true, true]);
  for (const podSandboxId of [sandbox, old]) {
    await machine.cri.stopPodSandbox({ podSandboxId });
    await machine.cri.removePodSandbox({ podSandboxId });
  }
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(await machine.docker.containers(), []);
});
