/** Effects of a Docker Engine with its own settings on a node: the ground that tests of rules beside it stand on. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { type Docker, startDocker } from '@podwire/testkit/docker';

let host: PrivateHost;
let docker: Docker;

before(async () => {
  host = await createPrivateHost({ name: 'dkd', world: true });
  docker = await startDocker(host, { network: 'default' });
});
after(() => host.close());

test('it has its bridge, switches forwarding on and drops what it does not know', async () => {
  await host.run(['ip', 'link', 'show', 'docker0']);
  assert.equal((await host.run(['sysctl', '-n', 'net.ipv4.ip_forward'])).trim(), '1');
  const forward = await host.run(['iptables', '-S', 'FORWARD']);
  assert.match(forward, /^-P FORWARD DROP$/m);
  assert.match(forward, /-j DOCKER-USER$/m);
});

test('it starts again after its end', async () => {
  await docker.kill9();
  await docker.start();
  assert.equal((await docker.call('GET', '/_ping')).status, 200);
});
