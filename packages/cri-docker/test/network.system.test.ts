/** Pods that reach each other, with plugins of Debian and with Podwire's own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  installPlugin,
  openTestNamespace,
  serveEcho,
  startAgent,
  type TestNamespace,
  ask,
  worldAddresses,
} from '@podwire/testkit';
import {
  createSandboxHost,
  podConfig,
  type SandboxHost,
  type SandboxHostOptions,
} from './support/harness.js';

const portmap = { type: 'portmap', capabilities: { portMappings: true }, snat: true };
const networks: readonly (readonly [string, SandboxHostOptions])[] = [
  ['bridge, host-local and portmap', { name: 'deb', world: true, after: [portmap] }],
  [
    'podwire-cni',
    {
      name: 'pwn',
      world: true,
      network: async (host) => installPlugin(host, (await startAgent(host)).socket),
    },
  ],
];

for (const [name, options] of networks) {
  describe(`with ${name}`, () => {
    let machine: SandboxHost;
    before(async () => {
      machine = await createSandboxHost(options);
    });
    after(() => machine.close());

    async function runPod(pod: string, hostPort = 0): Promise<Pod> {
      const portMappings =
        hostPort === 0 ? [] : [{ protocol: 0 as const, containerPort: 80, hostPort, hostIp: '' }];
      const { podSandboxId: id } = await machine.cri.runPodSandbox({
        config: podConfig(pod, { portMappings }),
        runtimeHandler: '',
      });
      const { status } = await machine.cri.podSandboxStatus({ podSandboxId: id, verbose: false });
      const namespace = openTestNamespace(path.join(machine.netnsDirectory, `podwire-${id}`));
      return { id, address: status?.network?.ip ?? '', namespace };
    }

    async function endPod({ id, namespace }: Pod): Promise<void> {
      namespace.delete();
      await machine.cri.stopPodSandbox({ podSandboxId: id });
      await machine.cri.removePodSandbox({ podSandboxId: id });
    }

    test('pods reach each other, the host reaches them, the world by a port of the host', async () => {
      const server = await runPod('server', 8080);
      const client = await runPod('client');
      const echo = await serveEcho(server.namespace, 'tcp', '0.0.0.0', 80);
      assert.equal((await ask(client.namespace, 'tcp', server.address, 80)).payload, 'podwire');
      assert.equal((await ask(machine.host.namespace, 'tcp', server.address, 80)).payload, 'podwire');
      await machine.host.run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
      const answer = await ask(machine.host.world!, 'tcp', worldAddresses.host.ipv4, 8080);
      assert.equal(answer.payload, 'podwire');
      await echo.close();
      await endPod(server);
      await endPod(client);
      assert.deepEqual(machine.pinned(), []);
      assert.deepEqual(fs.readdirSync(path.join(machine.root, 'sandbox')), []);
    });

    test('twenty pods at once have twenty addresses, and none afterwards', { timeout: 120_000 }, async () => {
      const pods = await Promise.all(Array.from({ length: 20 }, (_, index) => runPod(`many${index}`)));
      assert.equal(new Set(pods.map(({ address }) => address)).size, 20);
      await Promise.all(pods.map(endPod));
      assert.deepEqual(await machine.docker.containers(), []);
      assert.deepEqual(machine.pinned(), []);
      assert.deepEqual(machine.leases(), []);
    });
  });
}

interface Pod {
  readonly id: string;
  readonly address: string;
  readonly namespace: TestNamespace;
}
