/** Programs that are reached over a real network: Debian's bridge, and Podwire's own with its agent. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createProcessExec } from '@podwire/cni';
import { testCompliance } from '@podwire/cri-compliance';
import { createNativeRuntime, type EmbeddedRuntime } from '@podwire/cri-native';
import { createPodNetwork, type RunningPodNetwork } from '@podwire/pod-network';
import {
  createPrivateHost,
  installPlugin,
  podwirePlugin,
  type PrivateHost,
  type Snapshot,
  startAgent,
  takeSnapshot,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';
import {
  buildPauseProgram,
  containerConfig,
  createDirectories,
  pauseProgram,
  inside,
  leftovers,
  type Place,
  runContainer,
  runSandbox,
  sandboxConfig,
} from './fixture.js';

interface Machine {
  readonly host: PrivateHost;
  readonly place: Place;
  readonly network: RunningPodNetwork;
  readonly runtime: EmbeddedRuntime;
  readonly close: () => Promise<void>;
}

/** A private host whose pods run here; only plugins are started inside it, as a runtime of that machine would start them. */
async function openMachine(
  name: string,
  prepare: (host: PrivateHost, config: string) => Promise<readonly string[]>,
): Promise<Machine> {
  buildPauseProgram();
  const host = await createPrivateHost({ name, world: true });
  const configDirectory = path.join(host.directory, 'net.d');
  fs.mkdirSync(configDirectory, { recursive: true });
  const pluginPath = await prepare(host, configDirectory);
  const exec = createProcessExec({ around: (start) => host.namespace.inside(start), busyAttempts: 1 });
  const stateDirectory = path.join(host.directory, 'network');
  const network = await createPodNetwork({
    ...{ configDirectory, pluginPath, stateDirectory, durable: false, pollMs: 50, system: { exec } },
  });
  const place = createDirectories();
  const { state: directory, netns: netnsDirectory } = place;
  const runtime = await createNativeRuntime({ directory, netnsDirectory, network, pauseProgram });
  const close = async (): Promise<void> => {
    for (const { id } of (await runtime.listPodSandbox({})).items)
      await runtime.removePodSandbox({ podSandboxId: id });
    const left = leftovers(place);
    await runtime.close();
    await network.close();
    await host.close();
    fs.rmSync(place.directory, { recursive: true });
    assert.deepEqual(left, []);
  };
  return { host, place, network, runtime, close };
}

const debianPlugins = '/usr/lib/cni';

const openDebian = (name: string): Promise<Machine> =>
  openMachine(name, (host, config) => {
    assert.ok(
      fs.existsSync(path.join(debianPlugins, 'bridge')),
      'Debian package containernetworking-plugins',
    );
    const dataDir = path.join(host.directory, 'leases');
    const ranges = [[{ subnet: '10.88.7.0/24' }]];
    const ipam = { type: 'host-local', dataDir, ranges, routes: [{ dst: '0.0.0.0/0' }] };
    const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipam };
    const ports = { type: 'portmap', capabilities: { portMappings: true } };
    const list = { cniVersion: '1.0.0', name: 'bridged', plugins: [bridge, ports] };
    fs.writeFileSync(path.join(config, '10-bridge.conflist'), JSON.stringify(list));
    return Promise.resolve([debianPlugins]);
  });

const openPodwire = (name: string): Promise<Machine> =>
  openMachine(name, async (host, config) => {
    const agent = await startAgent(host, { config: { coolDown: '0s' } });
    const { binDir } = await installPlugin(host, agent.socket);
    const list = { cniVersion: '1.1.0', name: 'podwire', plugins: [podwirePlugin(agent.socket)] };
    fs.writeFileSync(path.join(config, '05-podwire.conflist'), JSON.stringify(list));
    return [binDir];
  });

/** Serves the pod's hostname; resolves with the address when it listens. */
async function serveHostname(
  { runtime, place }: Machine,
  fields = {},
): Promise<{ id: string; address: string }> {
  const id = await runSandbox(runtime, sandboxConfig(place, fields));
  const httpd = ['/bin/busybox', 'httpd', '-f', '-p', '8080', '-h', '/etc'];
  const container = await runContainer(runtime, id, containerConfig(httpd));
  await inside(runtime, container, 'until netstat -ltn | grep -q :8080; do sleep 0.01; done');
  const { status } = await runtime.podSandboxStatus({ podSandboxId: id, verbose: false });
  return { id, address: status?.network?.ip ?? '' };
}

const request = 'GET /hostname HTTP/1.0\r\n\r\n';

/** The last line of the answer. */
async function fetchHostname(from: PrivateHost, address: string, port: number): Promise<string> {
  const answer = await from.run(['/bin/busybox', 'nc', '-w', '2', address, String(port)], { input: request });
  return answer.split('\n').at(-2) ?? '';
}

/** Of Debian's plugins only the links: portmap keeps its chains. */
async function linksOf(host: PrivateHost): Promise<Snapshot> {
  const rows = JSON.parse(await host.run(['ip', '-j', 'link'])) as { ifname: string }[];
  return { links: Object.fromEntries(rows.map(({ ifname }) => [ifname, true])) };
}

for (const [name, open, look] of [
  ['Debian’s bridge', openDebian, linksOf],
  ['podwire-cni and its agent', openPodwire, (host: PrivateHost) => takeSnapshot(host.namespace)],
] as const)
  describe(`with ${name}`, () => {
    let machine: Machine;
    let empty: Snapshot;
    let resident: string;
    before(async () => {
      machine = await open(name.startsWith('D') ? 'emb-deb' : 'emb-pw');
      // Resources for all pods come with the first one, and stay as long as there is one.
      const { runtime, place, host } = machine;
      resident = await runSandbox(runtime, sandboxConfig(place));
      empty = await look(host);
    });
    after(() => machine.close());

    test('a program is reached from the host and from another pod, by the host’s port too', async () => {
      const { host, runtime, place } = machine;
      const portMappings = [{ containerPort: 8080, hostPort: 18080, protocol: 0, hostIp: '' }] as const;
      const web = await serveHostname(machine, { hostname: 'web', portMappings });
      assert.equal(await fetchHostname(host, web.address, 8080), 'web');
      const client = await runSandbox(runtime, sandboxConfig(place));
      const shell = await runContainer(runtime, client, containerConfig(['/bin/busybox', 'sleep', '1000']));
      const fetch = `printf '${request}' | nc ${web.address} 8080 | tail -n 1`;
      assert.equal(await inside(runtime, shell, fetch), 'web\n');
      const [hostAddress] = worldAddresses.host.ipv4.split('/');
      assert.equal(await fetchHostname(host, hostAddress ?? '', 18080), 'web');
      for (const id of [web.id, client]) await runtime.removePodSandbox({ podSandboxId: id });
      await assert.rejects(fetchHostname(host, web.address, 8080));
    });

    test('pods leave nothing on the host', async () => {
      const { host, runtime } = machine;
      const pods = await Promise.all([
        serveHostname(machine),
        serveHostname(machine),
        serveHostname(machine),
      ]);
      assert.equal(new Set(pods.map(({ address }) => address)).size, 3);
      await Promise.all(pods.map(({ id }) => runtime.stopPodSandbox({ podSandboxId: id })));
      await Promise.all(pods.map(({ id }) => runtime.removePodSandbox({ podSandboxId: id })));
      await untilSameSnapshot(empty, () => look(host));
      await runtime.removePodSandbox({ podSandboxId: resident });
    });
  });

/** As in compliance.ns.test.ts, with traffic. */
const aboutAbsentImages = new Set(['a container needs a sandbox, an image and a configuration']);

testCompliance(
  {
    describe: (name, body) => void describe(name, body),
    test: (name, body) => void (aboutAbsentImages.has(name) || /image/.test(name) || test(name, body)),
    before,
    after,
  },
  {
    name: 'the embedded runtime over a real network',
    lacks: ['removable image', 'image filter'],
    open: async () => {
      const machine = await openDebian('emb-crb');
      const { runtime, place, close } = machine;
      return { runtime, image: 'busybox:1', directory: place.logs, close };
    },
  },
);
