/** The packages on a Debian without Node and without the checkout: a copy of this machine's files, from which both are hidden. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  createPrivateHost,
  eventually,
  type PrivateHost,
  processesIn,
  run as runProgram,
} from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';

let host: PrivateHost;
let packages: string;
/** Command that leads into the mount namespace of the copy. */
let enter: readonly string[];
let machine: string;

before(async () => {
  host = await createPrivateHost({ name: 'package', world: true });
  packages = path.join(host.directory, 'packages');
  const build = [process.execPath, checkoutFile('scripts/package.mjs'), '--to', packages];
  const env = { ...process.env, TMPDIR: host.directory };
  await runProgram(build, { timeout: 300_000, env });
  await startMachine();
});
after(() => host?.close());

/** An overlay over this machine's files: nothing of it is changed, nothing is downloaded. */
async function startMachine(): Promise<void> {
  machine = path.join(host.directory, 'machine');
  const layers = path.join(host.directory, 'layers');
  for (const folder of [machine, layers]) fs.mkdirSync(folder);
  const keeper = host.start(['unshare', '--mount', '--propagation', 'private', 'sleep', 'infinity']);
  const mounts = `/proc/${keeper.pid}/ns/mnt`;
  await eventually(
    'a mount namespace of its own',
    () => fs.readlinkSync(mounts) !== fs.readlinkSync('/proc/self/ns/mnt'),
  );
  enter = ['nsenter', `--mount=${mounts}`, '--'];
  const outside = (...argv: string[]): Promise<string> => host.run([...enter, ...argv]);
  await outside('mount', '-t', 'tmpfs', 'tmpfs', layers);
  await outside('mkdir', path.join(layers, 'upper'), path.join(layers, 'work'));
  const options = `lowerdir=/,upperdir=${layers}/upper,workdir=${layers}/work`;
  await outside('mount', '-t', 'overlay', 'overlay', '-o', options, machine);
  const at = (folder: string): string => path.join(machine, folder);
  await outside('mount', '--make-rshared', machine);
  await outside('mount', '-t', 'proc', 'proc', at('proc'));
  for (const folder of ['dev', 'sys']) await outside('mount', '--rbind', `/${folder}`, at(folder));
  // Its own: sockets and state of agents; where tests are; the checkout, which may be below one of these or on another disk.
  for (const folder of ['run', 'tmp', checkoutFile('.')]) {
    await outside('mkdir', '-p', at(folder));
    await outside('mount', '-t', 'tmpfs', 'tmpfs', at(folder));
  }
  for (const folder of (process.env['PATH'] ?? '').split(':'))
    await outside('rm', '-f', path.join(machine, folder, 'node'), path.join(machine, folder, 'npm'));
  // Podwire may be in use on this machine.
  for (const folder of ['etc/podwire', 'var/lib/podwire']) await outside('rm', '-rf', at(folder));
  await outside('cp', '-r', packages, at('tmp/packages'));
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const run = (...argv: string[]): Promise<string> =>
  host.run([...enter, 'chroot', machine, '/usr/bin/env', '-i', `PATH=${PATH}`, 'HOME=/root', ...argv], {
    timeout: 120_000,
  });

const left = async (): Promise<string[]> => {
  const found = await run('find', '/usr', '/etc', '/var/lib', '/run', '-name', '*podwire*');
  return found.split('\n').filter((file) => file !== '');
};

test('there is no Node on this machine, and nothing of Podwire', async () => {
  await assert.rejects(run('node', '--version'));
  assert.deepEqual(await left(), []);
});

test('the Debian package installs, and a pod runs', async () => {
  const [deb = ''] = fs.readdirSync(packages).filter((name) => name.endsWith('.deb'));
  assert.match(
    await run('dpkg', '--install', `/tmp/packages/${deb}`),
    /systemctl enable --now podwire-agent/,
  );
  assert.match(await run('podwire', 'version'), /0\.\d+\.\d+/);
  await run('podwire', 'up', '/usr/lib/podwire/examples/web.yaml');
  assert.match(await run('podwire', 'ps'), /web/);
  assert.match(await run('podwire', 'status'), /: ready/);
  await run('podwire', 'down');
  assert.match(await run('podwire', 'config', 'validate', '/etc/podwire/agent.yaml'), /valid/);
  for (const name of ['podwire-cni', 'openshift-sdn', 'kube-ovn']) {
    const versions = await run('env', 'CNI_COMMAND=VERSION', `/usr/lib/podwire/bin/${name}`);
    assert.match(versions, /supportedVersions/);
  }
});

test('what it starts is what is installed', async () => {
  const unit = await run('cat', '/usr/lib/systemd/system/podwire-agent.service');
  const [, program = '', script = ''] = /^ExecStart=(\S+) .*?(\S+) agent --config/m.exec(unit) ?? [];
  assert.match(await run(program, script, 'version'), /0\.\d+\.\d+/);
  assert.match(await run('cat', '/usr/share/doc/podwire/copyright'), /Apache License[^]*Node\.js/);
});

/** Its volume is a directory of the node, and the container sees a part of it. */
const keeper = `
apiVersion: v1
kind: Pod
metadata: { name: keeper }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: busybox:1.35
      command: [/bin/busybox, sleep, '86397']
      volumeMounts: [{ name: node, mountPath: /data, subPath: data }]
  volumes: [{ name: node, hostPath: { path: /srv/node } }]
`;
const precious = '/srv/node/data/precious';
const writeFile = (file: string, text: string): Promise<string> =>
  run('sh', '-ec', 'mkdir -p "$(dirname "$1")"; echo "$2" >"$1"', 'sh', file, text);
const refused = /the package stays, since pods still run: default\/keeper[^]*podwire down/;

test('a removal is refused while a pod runs, and names it', async () => {
  await writeFile(precious, 'keep me');
  await writeFile('/tmp/keeper.yaml', keeper);
  await run('podwire', 'up', '/tmp/keeper.yaml');
  await assert.rejects(run('dpkg', '--purge', 'podwire'), refused);
  assert.match(await run('podwire', 'status'), /: ready/);
});

test('a purge beside a running pod keeps the files of the node', async () => {
  await endAgents();
  await assert.rejects(run('dpkg', '--purge', 'podwire'), refused);
  const pids = await findProcessesOfPods();
  await run('sh', '/var/lib/dpkg/info/podwire.postrm', 'purge');
  assert.equal(await run('cat', precious), 'keep me\n');
  assert.equal(
    pids.some((pid) => fs.existsSync(`/proc/${pid}/root/data/precious`)),
    true,
  );
  assert.equal(await run('find', '/var/lib', '/run', '-path', '*podwire/*'), '');
  await endAll(pids);
  // Whose they were, no runtime knows any more.
  await run('sh', '-c', 'umount /run/netns/podwire-* && rm /run/netns/podwire-*');
});

/** By the namespaces that are pinned for pods. */
async function findProcessesOfPods(): Promise<number[]> {
  const inodes = await run('sh', '-c', 'stat -c %i /run/netns/podwire-*');
  const pids = processesIn(new Set(inodes.trim().split('\n').map(Number)));
  assert.equal(pids.length > 0, true);
  return pids;
}

/** As where `prerm` has stopped the services. Pods outlive them. */
async function endAgents(): Promise<void> {
  const { agent, podlet } = JSON.parse(await run('cat', '/run/podwire/started.json')) as Record<
    'agent' | 'podlet',
    { pid: number }
  >;
  await endAll([podlet.pid, agent.pid]);
}

async function endAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await eventually('the processes are gone', () => !pids.some((pid) => fs.existsSync(`/proc/${pid}`)));
}

test('a purge leaves nothing', async () => {
  await run('dpkg', '--purge', 'podwire');
  assert.deepEqual(await left(), []);
});

test('the tarball works from any folder, through a link', async () => {
  const [tarball = ''] = fs.readdirSync(packages).filter((name) => name.endsWith('.tar.gz'));
  await run('mkdir', '/opt/apps');
  await run('tar', '-C', '/opt/apps', '-xzf', `/tmp/packages/${tarball}`);
  await run(
    'ln',
    '-s',
    `/opt/apps/${path.basename(tarball, '.tar.gz')}/bin/podwire`,
    '/usr/local/bin/podwire',
  );
  assert.match(await run('podwire', 'version'), /0\.\d+\.\d+/);
  assert.match(await run('podwire', '--help'), /service/);
});
