/**
 * The pod agent with its own default directories, on a machine whose /run is a tmpfs that nothing may be executed on, as Debian's is:
 * after a power cut, with the API server away, the pods that were kept come back with what their volumes had.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  createPrivateHost,
  eventually,
  type PrivateHost,
  type RunningProcess,
  until,
} from '@podwire/testkit';
import { type ApiServer, startApiServer } from './support/api-server.js';
import { killQuietly } from './support/end-processes.js';
import { container, lingering, pod } from './support/manifests.js';

const podwire = path.resolve(import.meta.dirname, '../../../bin/podwire');
const port = 8099;

let host: PrivateHost;
let server: ApiServer;
/** Holds the machine's mount namespace. */
let holder: RunningProcess;
let podAgent: RunningProcess;
before(async () => {
  host = await createPrivateHost({ name: 'boot' });
  server = await startApiServer(host);
  holder = host.start(['unshare', '--mount', '--propagation', 'private', 'sleep', '100000']);
  host.defer(endAll);
  const own = fs.readlinkSync('/proc/self/ns/mnt');
  await eventually('a mount namespace', () => fs.readlinkSync(`/proc/${holder.child.pid}/ns/mnt`) !== own);
  for (const directory of ['/var/lib', '/var/log']) await inside('mount', '-t', 'tmpfs', 'tmpfs', directory);
  await mountRun();
});
after(() => host?.close());

const entering = (): string[] => ['nsenter', `--mount=/proc/${holder.child.pid}/ns/mnt`, '--'];
const inside = (...argv: string[]): Promise<string> => host.run([...entering(), ...argv]);
const mountRun = (): Promise<string> =>
  inside('mount', '-t', 'tmpfs', '-o', 'nosuid,nodev,noexec', 'tmpfs', '/run');

async function startPodAgent(): Promise<void> {
  const file = path.join(host.directory, 'kubeconfig');
  const cluster = { name: 'c', cluster: { server: server.url } };
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } };
  const users = [{ name: 'u', user: {} }];
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts: [context], users };
  fs.writeFileSync(file, JSON.stringify({ ...config, 'current-context': 'x' }));
  const empty = path.join(host.directory, 'net.d');
  fs.mkdirSync(empty, { recursive: true });
  const argv = [process.execPath, podwire, 'podlet', '--kubeconfig', file, '--node-name', 'node1'];
  podAgent = host.start([...entering(), ...argv, '--cni-conf-dir', empty]);
  await podAgent.waitForOutput(/"ready"/);
}

/** Everything that runs on the machine, but for what holds its namespace. */
async function endAll(): Promise<void> {
  await until('the end of all processes', () => {
    const left = host.processes().filter((pid) => pid !== holder.child.pid);
    left.forEach(killQuietly);
    return left.length === 0;
  });
}

async function cutThePower(): Promise<void> {
  await endAll();
  await podAgent.exited;
  await inside('umount', '--lazy', '/run');
  await mountRun();
  const bootId = path.join(host.directory, 'boot-id');
  fs.writeFileSync(bootId, 'the second boot\n');
  await inside('mount', '--bind', bootId, '/proc/sys/kernel/random/boot_id');
}

const fetch = (): Promise<string> =>
  until(
    'an answer of the pod',
    () => host.run(['/bin/busybox', 'wget', '-qO-', `http://127.0.0.1:${port}/`]),
    { describe: () => inside(process.execPath, podwire, 'ps') },
  );

/** Its program is a copy in the volume, which is executed there, and it counts its starts there. */
const script = [
  'cp /bin/busybox /data/busybox && mkdir -p /data/www',
  'echo start >> /data/www/index.html',
  `/data/busybox httpd -p 127.0.0.1:${port} -h /data/www`,
  lingering,
].join('; ');

test('a pod of the API that is checkpointed comes back after a power cut, with its volume', async () => {
  await startPodAgent();
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const spec = { nodeName: 'node1', hostNetwork: true, volumes: [{ name: 'data', emptyDir: {} }] };
  const annotations = { 'node.kubernetes.io/bootstrap-checkpoint': 'true' };
  server.put(pod('kept', [container('main', script, { volumeMounts })], spec, { annotations }));
  assert.equal(await fetch(), 'start\n');

  await cutThePower();
  server.goAway();
  await startPodAgent();
  assert.equal(await fetch(), 'start\nstart\n');
});
