/** Podman 4.3 with the CNI back end and Podwire's network as its default. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Agent,
  createPrivateHost,
  installPlugin,
  type PrivateHost,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';
import { busyboxImage } from '@podwire/testkit/containerd';
import { type Podman, preparePodman } from '@podwire/testkit/podman';

let host: PrivateHost;
let world: TestNamespace;
let agent: Agent;
let podman: Podman;

before(async () => {
  host = await createPrivateHost({ name: 'ppw', world: true });
  world = host.world ?? assert.fail('a world');
  agent = await startAgent(host);
  podman = await preparePodman(host, { ...(await installPlugin(host, agent.socket)), network: 'podwire' });
});
after(() => host.close());

const run = (name: string, ...options: string[]): Promise<string> =>
  podman('run', '--detach', '--name', name, ...options, busyboxImage, 'sleep', '100000');
const remove = (...names: string[]): Promise<string> => podman('rm', '--force', '--time', '0', ...names);
const snapshot = () =>
  takeSnapshot(host.namespace, { files: [`${agent.stateDirectory}/endpoints`], processes: true });

/** Blocks of addresses stay the node's once they are claimed. */
const claimed = [/^routes\/blackhole /];

test('Podman lists the network', async () => {
  assert.equal(await podman('network', 'ls', '--format', '{{.Name}} {{.Driver}}'), 'podwire podwire-cni');
});

test('containers serve HTTP to each other and on a host port, and leave nothing', async () => {
  const before = await snapshot();
  await run('server', '--publish', '8080:80');
  await podman('exec', 'server', 'sh', '-c', 'echo hello > /www/index.html && httpd -p 80 -h /www');
  await run('client');
  const address = await podman('inspect', 'server', '--format', '{{.NetworkSettings.IPAddress}}');
  const address6 = await podman('inspect', 'server', '--format', '{{.NetworkSettings.GlobalIPv6Address}}');
  assert.match(address, /^10\.244\./);
  for (const url of [`http://${address}/`, `http://[${address6}]/`]) {
    assert.equal(await podman('exec', 'client', 'wget', '-qO-', url), 'hello');
  }
  const outside = ['busybox', 'wget', '-qO-', `http://${worldAddresses.host.ipv4}:8080/`];
  assert.equal(await world.run(outside), 'hello\n');
  await podman('exec', 'client', 'ping', '-c', '1', worldAddresses.beyond.ipv4);
  await remove('server', 'client');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});

test('a container gets the address and the MAC that it asks for', async () => {
  const before = await snapshot();
  await run('chosen', '--ip', '10.244.7.7', '--mac-address', '02:00:00:00:77:07');
  const link = await podman('exec', 'chosen', 'ip', 'address', 'show', 'dev', 'eth0');
  assert.match(link, /02:00:00:00:77:07[^]*10\.244\.7\.7\/32/);
  await remove('chosen');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});

test('a container restarted keeps working, also when the agent was restarted between', async () => {
  const before = await snapshot();
  await run('again');
  await agent.stop();
  await agent.start();
  await podman('restart', '--time', '0', 'again');
  await podman('exec', 'again', 'ping', '-c', '1', worldAddresses.beyond.ipv4);
  await remove('again');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});
