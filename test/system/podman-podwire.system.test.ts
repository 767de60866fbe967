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
  until,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';
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

const snapshot = () =>
  takeSnapshot(host.namespace, { files: [`${agent.stateDirectory}/endpoints`], processes: true });

/** Blocks of addresses stay the node's once they are claimed. */
const claimed = [/^routes\/blackhole /];

test('Podman lists the network', async () => {
  assert.equal(
    await podman.call('network', 'ls', '--format', '{{.Name}} {{.Driver}}'),
    'podwire podwire-cni',
  );
});

test('containers serve HTTP to each other and on a host port, and leave nothing', async () => {
  const before = await snapshot();
  await podman.runDetached('server', '--publish', '8080:80');
  await podman.call('exec', 'server', 'sh', '-c', 'echo hello > /www/index.html && httpd -p 80 -h /www');
  await podman.runDetached('client');
  const address = await podman.call('inspect', 'server', '--format', '{{.NetworkSettings.IPAddress}}');
  const address6 = await podman.call(
    'inspect',
    'server',
    '--format',
    '{{.NetworkSettings.GlobalIPv6Address}}',
  );
  assert.match(address, /^10\.244\./);
  for (const url of [`http://${address}/`, `http://[${address6}]/`]) {
    assert.equal(await podman.call('exec', 'client', 'wget', '-qO-', url), 'hello');
  }
  const outside = ['busybox', 'wget', '-qO-', `http://${worldAddresses.host.ipv4}:8080/`];
  assert.equal(await world.run(outside), 'hello\n');
  await pingsBeyond('client');
  await podman.remove('server', 'client');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});

/** Busybox does not send again what is lost. */
async function pingsBeyond(container: string): Promise<void> {
  const ping = ['exec', container, 'ping', '-c', '1', worldAddresses.beyond.ipv4];
  await until(`${container} gets an answer from beyond`, () => podman.call(...ping));
}

test('a container gets the address and the MAC that it asks for', async () => {
  const before = await snapshot();
  await podman.runDetached('chosen', '--ip', '10.244.7.7', '--mac-address', '02:00:00:00:77:07');
  const link = await podman.call('exec', 'chosen', 'ip', 'address', 'show', 'dev', 'eth0');
  assert.match(link, /02:00:00:00:77:07[^]*10\.244\.7\.7\/32/);
  await podman.remove('chosen');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});

test('a container restarted keeps working, also when the agent was restarted between', async () => {
  const before = await snapshot();
  await podman.runDetached('again');
  await agent.stop();
  await agent.start();
  await podman.call('restart', '--time', '0', 'again');
  await pingsBeyond('again');
  await podman.remove('again');
  await untilSameSnapshot(before, snapshot, { ignore: claimed });
});
