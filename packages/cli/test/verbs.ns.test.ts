/** Pods by name on the native runtime: exec, restart, stop, rm and down, as typed. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { endProcesses } from '@podwire/linux';
import type { PodView } from '@podwire/podlet';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';
import { placesIn } from '../src/pods/locate.js';
import type { MeasuredUse } from '../src/pods/use.js';
import { readStarted } from '../src/pods/started.js';

let host: PrivateHost;
let directory: string;
let manifest: string;

before(async () => {
  host = await createPrivateHost({ name: 'verb', world: true });
  directory = path.join(host.directory, 'pods');
  manifest = path.join(host.directory, 'two.yaml');
  const documents = [aPod('app', ['main', 'side']), aPod('job', ['main'])];
  fs.writeFileSync(manifest, documents.map((each) => JSON.stringify(each)).join('\n---\n'));
  await podwire('up', manifest);
});
after(() => host?.close());

function aPod(name: string, containers: readonly string[]): object {
  const script = 'echo begun; trap "exit 0" TERM; while :; do sleep 0.1; done';
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: containers.map((each) => ({
        name: each,
        image: 'none',
        command: ['/bin/sh', '-c', script],
      })),
    },
  };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const program = (command: string): string[] => [
  ...[process.execPath, checkoutFile('bin/podwire'), command, '--directory', directory],
];

async function attempt(command: string, ...argv: string[]): Promise<Ended> {
  const child = host.start([...program(command), ...argv]);
  child.child.stdin?.end();
  const { code } = await child.exited;
  return { code: code ?? -1, stdout: child.stdout(), stderr: child.stderr() };
}

async function podwire(command: string, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(command, ...argv);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function read(name: string): Promise<PodView | undefined> {
  const { pods } = JSON.parse(await podwire('ps', '-o', 'json')) as { pods: PodView[] };
  return pods.find((pod) => pod.name === name);
}

test('exec: options behind the name, and the exit codes of programs that do not start', async () => {
  assert.equal(await podwire('exec', 'app', '-c', 'side', '-n', 'default', '--', 'echo', '-c'), '-c\n');
  assert.deepEqual(await attempt('exec', 'app', '--', 'nosuch'), {
    code: 127,
    stdout: '',
    stderr: 'error: nosuch: executable file not found in container main of pod default/app\n',
  });
  const denied = await attempt('exec', 'app', '-c', 'side', '--', '/etc/passwd');
  assert.equal(denied.code, 126);
  assert.match(denied.stderr, /permission denied in container side of pod default\/app/);
  assert.equal((await attempt('exec', 'app', 'sh', '-c', 'kill -9 $$')).code, 137);
});

test('restart of one container keeps the sandbox and the addresses', async () => {
  const first = await read('app');
  await podwire('restart', 'app', '-c', 'side');
  const second = await read('app');
  assert.deepEqual(
    second?.containers.map(({ name, restartCount }) => [name, restartCount]),
    [
      ['main', 0],
      ['side', 1],
    ],
  );
  assert.deepEqual([second?.sandboxId, second?.status.podIPs], [first?.sandboxId, first?.status.podIPs]);
});

test('stats of a pod, container by container', async () => {
  const { pods } = JSON.parse(await podwire('stats', 'app', '-o', 'json')) as { pods: MeasuredUse[] };
  const [use] = pods;
  assert.deepEqual(use?.containers.map(({ name }) => name).sort(), ['main', 'side']);
  for (const { cpu, memoryBytes } of use.containers) assert.ok(cpu !== undefined && memoryBytes > 0);
  assert.ok(use.processes! >= 2 && use.txBytes !== undefined);
});

test('attach joins the input and the output of the program', async () => {
  const file = path.join(host.directory, 'pipe.json');
  const main = { name: 'main', image: 'none', command: ['/bin/cat'], stdin: true, stdinOnce: true };
  const spec = { hostNetwork: true, restartPolicy: 'Never', containers: [main] };
  fs.writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pipe' }, spec }));
  await podwire('up', file);
  assert.equal(await host.run([...program('attach'), 'pipe', '-i'], { input: 'hello\n' }), 'hello\n');
  await podwire('down', file);
});

test('cp carries files and directories both ways, and leaves links of the container out', async () => {
  const here = path.join(host.directory, 'copies');
  fs.mkdirSync(path.join(here, 'site/sub'), { recursive: true });
  fs.writeFileSync(path.join(here, 'site/index.html'), 'hello');
  fs.writeFileSync(path.join(here, 'site/sub/big'), Buffer.alloc(3 << 20, 'x'));
  await podwire('cp', path.join(here, 'site'), 'app:/tmp', '-c', 'side');
  await podwire('cp', path.join(here, 'site/index.html'), 'app:/tmp/site/renamed', '-c', 'side');
  assert.equal(await podwire('exec', 'app', '-c', 'side', '--', 'cat', '/tmp/site/renamed'), 'hello');
  const trap = 'cd /tmp/site && ln -s /etc out && chmod 4755 renamed';
  await podwire('exec', 'app', '-c', 'side', '--', 'sh', '-c', trap);
  const { code, stderr } = await attempt('cp', 'app:/tmp/site', path.join(here, 'back'), '-c', 'side');
  assert.equal(code, 0);
  assert.match(stderr, /^warning: left out: site\/out is no file and no directory \(SymbolicLink\)\n$/);
  assert.deepEqual(fs.readdirSync(path.join(here, 'back')).sort(), ['index.html', 'renamed', 'sub']);
  assert.equal(fs.statSync(path.join(here, 'back/sub/big')).size, 3 << 20);
  assert.equal(fs.statSync(path.join(here, 'back/renamed')).mode & 0o7777, 0o755);
  await podwire('cp', 'default/app:/tmp/site/index.html', here, '-c', 'side');
  assert.equal(fs.readFileSync(path.join(here, 'index.html'), 'utf8'), 'hello');
  const missing = await attempt('cp', 'app:/nowhere', path.join(here, 'none'));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /tar in pod default\/app: .*nowhere/);
  assert.deepEqual(fs.readdirSync(here).sort(), ['back', 'index.html', 'site']);
});

test('a stopped pod has its log, stays stopped over a restart of the pod agent, and runs again when told to', async () => {
  await podwire('stop', 'job');
  assert.match(await podwire('ps'), /default\/job .*Stopped/);
  assert.equal(await podwire('logs', 'job'), 'begun\n');
  const { podlet } = readStarted(placesIn(directory));
  await endProcesses([podlet!]);
  fs.writeFileSync(
    path.join(host.directory, 'empty.yaml'),
    '{"apiVersion":"v1","kind":"PodList","items":[]}',
  );
  await attempt('up', path.join(host.directory, 'empty.yaml'));
  assert.equal((await read('job'))?.status.reason, 'Stopped');
  assert.equal((await read('app'))?.status.phase, 'Running');
  await podwire('restart', 'job');
  assert.equal((await read('job'))?.status.phase, 'Running');
  await podwire('stop', 'job');
  await podwire('up', manifest);
  assert.equal((await read('job'))?.status.phase, 'Running');
});

test('rm takes one pod out of a manifest until that is given again, and leaves the file alone', async () => {
  const text = fs.readFileSync(manifest, 'utf8');
  assert.equal(await podwire('rm', 'job'), 'ended: default/job\nstill running: default/app\n');
  assert.equal(await read('job'), undefined);
  assert.equal((await attempt('down', 'job')).code, 1);
  assert.equal(fs.readFileSync(manifest, 'utf8'), text);
  await podwire('up', manifest);
  assert.equal((await read('job'))?.status.phase, 'Running');
});

test('with the last pod the agents end, also when it went by its name', async () => {
  await podwire('down', path.join(host.directory, 'empty.yaml'));
  assert.equal(await podwire('down', 'pod/app'), 'ended: default/app\nstill running: default/job\n');
  assert.equal(await podwire('rm', 'job'), 'all gone\n');
  assert.deepEqual(readStarted(placesIn(directory)), {});
});
