/** Podman's CNI back end with Debian's own plugins: proves the harness that the test with Podwire builds upon. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertSameSnapshot, createPrivateHost, type PrivateHost, takeSnapshot } from '@podwire/testkit';
import { type Podman, preparePodman } from '@podwire/testkit/podman';

let host: PrivateHost;
let podman: Podman;

before(async () => {
  host = await createPrivateHost({ name: 'podm' });
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  const bridge = {
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    ipam: {
      type: 'host-local',
      dataDir: path.join(host.directory, 'host-local'),
      ranges: [[{ subnet: '10.89.0.0/24' }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  };
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }];
  fs.writeFileSync(
    path.join(confDir, '10-debian.conflist'),
    JSON.stringify({ cniVersion: '0.4.0', name: 'debian', plugins }),
  );
  podman = await preparePodman(host, { binDir: '/usr/lib/cni', confDir, network: 'debian' });
});
after(() => host.close());

test('Podman runs here and uses CNI', async () => {
  assert.match(await podman.call('version', '--format', '{{.Client.Version}}'), /^4\.3/);
  assert.equal(await podman.call('info', '--format', '{{.Host.NetworkBackend}}'), 'cni');
});

test('a container serves HTTP to another container and on a host port, and leaves nothing', async () => {
  // Remains that the plugins never take away: the bridge and portmap's chains.
  await podman.runDetached('first', '--publish', '8079:80');
  await podman.remove('first');
  const before = await takeSnapshot(host.namespace, { processes: true });

  await podman.runDetached('server', '--publish', '8080:80');
  await podman.call('exec', 'server', 'sh', '-c', 'echo hello > /www/index.html && httpd -p 80 -h /www');
  await podman.runDetached('client');
  const address = await podman.call('inspect', 'server', '--format', '{{.NetworkSettings.IPAddress}}');
  assert.equal(await podman.call('exec', 'client', 'wget', '-qO-', `http://${address}/`), 'hello');
  assert.equal(await host.run(['busybox', 'wget', '-qO-', 'http://10.89.0.1:8080/']), 'hello\n');

  await podman.remove('server', 'client');
  // The bridge stays, and its link-local address settles some time after it came up.
  const ignore = [/^(links|addresses|routes|fdb)\/.*cni0/];
  assertSameSnapshot(before, await takeSnapshot(host.namespace, { processes: true }), { ignore });
});
