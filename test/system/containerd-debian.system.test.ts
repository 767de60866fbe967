/**
 * containerd with Debian's own plugins: what the other tests with containerd build upon. If this fails, it is the
 * machine or the harness, not Podwire.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertSameSnapshot, createPrivateHost, type PrivateHost, takeSnapshot } from '@podwire/testkit';
import {
  busyboxImage,
  type Containerd,
  type SandboxSpec,
  startContainerd,
} from '@podwire/testkit/containerd';

/** The bridge stays, and its link-local address settles some time after it came up. */
const bridgeOwn = [/^(links|addresses|routes|fdb)\/.*cni0/];

let host: PrivateHost;
let containerd: Containerd;

before(async () => {
  host = await createPrivateHost({ name: 'ctrd' });
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  fs.writeFileSync(path.join(confDir, '10-debian.conflist'), JSON.stringify(bridgeNetwork(host.directory)));
  containerd = await startContainerd(host, { binDir: '/usr/lib/cni', confDir });
});
after(() => host.close());

const bridgeNetwork = (directory: string): object => ({
  cniVersion: '0.4.0',
  name: 'debian',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipam: {
        type: 'host-local',
        dataDir: path.join(directory, 'host-local'),
        ranges: [[{ subnet: '10.88.0.0/24' }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
});

/** A sandbox with a container in which a web server listens: httpd goes into the background when it does. */
async function runWeb(spec: SandboxSpec): Promise<{ id: string; container: string; address: string }> {
  const { cri } = containerd;
  const id = await cri.runSandbox(spec);
  const waiting = { name: 'web', image: busyboxImage, command: ['sleep', '100000'] };
  const container = await cri.runContainer(id, waiting, spec);
  await cri.exec(container, ['sh', '-c', 'echo "I am $HOSTNAME" > /www/index.html && httpd -p 80 -h /www']);
  const [address = ''] = (await cri.sandboxStatus(id)).addresses;
  return { id, container, address };
}

test('containerd is ready and says who it is', async () => {
  assert.equal((await containerd.cri.version()).name, 'containerd');
  const conditions = await containerd.cri.conditions();
  assert.deepEqual(
    conditions.map(({ type, status }) => [type, status]),
    [
      ['RuntimeReady', true],
      ['NetworkReady', true],
    ],
  );
});

test('a sandbox serves HTTP to another sandbox and on a host port, also after a restart of containerd', async () => {
  const portMappings = [{ containerPort: 80, hostPort: 8080 }];
  const server = await runWeb({ name: 'server', portMappings });
  const client = await runWeb({ name: 'client' });
  assert.match(server.address, /^10\.88\.0\.\d+$/);
  const fetch = async (): Promise<string> => {
    const answer = await containerd.cri.exec(client.container, ['wget', '-qO-', `http://${server.address}/`]);
    return answer.stdout + answer.stderr;
  };
  assert.equal(await fetch(), 'I am server\n');
  const byHostPort = ['busybox', 'wget', '-qO-', 'http://10.88.0.1:8080/'];
  assert.equal(await host.run(byHostPort), 'I am server\n');

  await containerd.restart();
  assert.deepEqual((await containerd.cri.listSandboxes()).map(({ name, ready }) => [name, ready]).sort(), [
    ['client', true],
    ['server', true],
  ]);
  assert.equal(await fetch(), 'I am server\n');

  for (const { id } of [server, client]) {
    await containerd.cri.stopSandbox(id);
    await containerd.cri.stopSandbox(id);
    await containerd.cri.removeSandbox(id);
  }
  assert.deepEqual(await containerd.cri.listSandboxes(), []);
});

test('a sandbox run, stopped and removed leaves the host as it was', async () => {
  // The first sandbox made what plugins never take away: the bridge and portmap's chains.
  const options = {
    files: [path.join(containerd.stateDirectory, 'io.containerd.grpc.v1.cri')],
    processes: true,
  };
  const before = await takeSnapshot(host.namespace, options);
  const { id } = await runWeb({ name: 'brief', portMappings: [{ containerPort: 80, hostPort: 8081 }] });
  const during = await takeSnapshot(host.namespace, options);
  assert.throws(() => assertSameSnapshot(before, during), /\+ links\/veth/);
  await containerd.cri.stopSandbox(id);
  await containerd.cri.removeSandbox(id);
  assertSameSnapshot(before, await takeSnapshot(host.namespace, options), { ignore: bridgeOwn });
});
