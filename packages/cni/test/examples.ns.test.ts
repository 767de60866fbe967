import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  assertSameSnapshot,
  createPrivateHost,
  type PrivateHost,
  reaches,
  serveEcho,
  takeSnapshot,
} from '@podwire/testkit';
import { convertResult, createProcessExec, createRuntime, PluginError, type Runtime } from '../src/index.js';
import {
  addressesOf,
  attachmentOf,
  gatewaysOf,
  linkOf,
  linksOf,
  networkOf,
  pluginDirectory,
} from './support/debian.js';

const examples = path.resolve(import.meta.dirname, '../examples');

/** As `examples/run-network.ts` does it: the compiler makes no file executable. */
function installPlugin(directory: string, name: string): void {
  const start = `#!/bin/sh\nexec '${process.execPath}' '${path.join(examples, `${name}.js`)}'\n`;
  fs.writeFileSync(path.join(directory, name), start, { mode: 0o755 });
}

let host: PrivateHost;
let runtime: Runtime;
before(async () => {
  host = await createPrivateHost({ name: 'example' });
  const plugins = path.join(host.directory, 'plugins');
  fs.mkdirSync(plugins);
  for (const name of ['pool', 'veth']) installPlugin(plugins, name);
  runtime = createRuntime({
    pluginPath: [plugins, pluginDirectory],
    cacheDir: path.join(host.directory, 'cache'),
    rollback: true,
    exec: createProcessExec({ around: (start) => host.namespace.inside(start) }),
  });
});
after(() => host.close());

const leases = () => fs.readdirSync(path.join(host.directory, 'leases/demo'));
const network = (
  ipam: object = { type: 'pool', directory: path.join(host.directory, 'leases'), prefix: '10.94.0' },
) =>
  networkOf('demo', [
    { type: 'veth', ipam },
    { type: 'tuning', mtu: 1400 },
  ]);

test('the example plugin, written in TypeScript, with another behind it for addresses and Debian’s tuning after it', async () => {
  const pod = host.addPod();
  const attachment = attachmentOf(pod);
  const earlier = await takeSnapshot(host.namespace);
  const result = convertResult(await runtime.add(network(), attachment), '1.0.0');
  const [end] = (await linksOf(host.namespace)).filter(({ ifname }) => ifname.startsWith('ex'));
  assert.deepEqual(result, {
    cniVersion: '1.0.0',
    interfaces: [
      { name: end?.ifname, mac: end?.address },
      { name: 'eth0', mac: (await linkOf(pod, 'eth0')).address, sandbox: pod.path },
    ],
    ips: [{ address: '10.94.0.2/24', gateway: '10.94.0.1', interface: 1 }],
    routes: [{ dst: '0.0.0.0/0' }],
  });
  assert.deepEqual(await addressesOf(pod, 'eth0'), ['10.94.0.2/24']);
  assert.deepEqual(await gatewaysOf(pod), { default: '10.94.0.1' });
  assert.equal((await linkOf(pod, 'eth0')).mtu, 1400);
  assert.deepEqual(leases(), ['10.94.0.2']);
  const server = await serveEcho(pod, 'tcp', '10.94.0.2', 0);
  assert.equal(await reaches(host.namespace, 'tcp', '10.94.0.2', server.port), true);
  await server.close();

  await runtime.check('demo', attachment);
  fs.rmSync(path.join(host.directory, 'leases/demo/10.94.0.2'));
  await assert.rejects(runtime.check('demo', attachment), (error) => {
    assert.ok(error instanceof PluginError);
    assert.match(error.message, /plugin pool failed to CHECK: the address is not ours any more/);
    return error.code === 100;
  });
  await runtime.del('demo', attachment);
  await runtime.del(network(), attachment);
  assertSameSnapshot(earlier, await takeSnapshot(host.namespace));
});

test('an address that cannot be used is given back, and nothing is left', async () => {
  const pod = host.addPod();
  await pod.ip('link add eth0 type veth peer name other0');
  const earlier = await takeSnapshot(host.namespace);
  await assert.rejects(
    runtime.add(network(), attachmentOf(pod)),
    (error) => error instanceof PluginError && error.plugin === 'veth',
  );
  assert.deepEqual(leases(), []);
  assertSameSnapshot(earlier, await takeSnapshot(host.namespace));
});

test('it delegates to Debian’s host-local just as well', async () => {
  const pod = host.addPod();
  const dataDir = path.join(host.directory, 'host-local');
  const ipam = { type: 'host-local', dataDir, ranges: [[{ subnet: '10.95.0.0/24' }]] };
  await runtime.add(network(ipam), attachmentOf(pod));
  assert.deepEqual(await addressesOf(pod, 'eth0'), ['10.95.0.2/24']);
  assert.ok(fs.existsSync(path.join(dataDir, 'demo/10.95.0.2')));
  await runtime.del('demo', attachmentOf(pod));
  assert.ok(!fs.existsSync(path.join(dataDir, 'demo/10.95.0.2')));
});
