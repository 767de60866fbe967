/** Why a pod does not start, as people are told: by `up`, `ps`, `trace`. On a host that has no network but its loopback. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { endProcesses, type ProcessMark } from '@podwire/linux';
import type { PodView } from '@podwire/podlet';
import { CommandError, createPrivateHost, eventually, type PrivateHost, serveEcho } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';
import { placesIn } from '../src/pods/locate.js';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'why' });
});
after(async () => {
  await podwire('down');
  await host.close();
});

const directory = (): string => path.join(host.directory, 'pods');

interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Also of a command that fails. */
async function podwire(command: string, ...argv: string[]): Promise<Answer> {
  const words = [process.execPath, checkoutFile('bin/podwire'), command, '--directory', directory(), ...argv];
  try {
    return { stdout: await host.run(words), stderr: '', code: 0 };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const { stdout, stderr, exit } = error;
    return { stdout, stderr, code: exit.code };
  }
}

function writePod(name: string, container: object, spec: object = {}): string {
  const file = path.join(host.directory, `${name}.yaml`);
  const containers = [{ name: 'a', image: 'none', ...container }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
  fs.writeFileSync(
    file,
    JSON.stringify({ ...pod, spec: { terminationGracePeriodSeconds: 0, containers, ...spec } }),
  );
  return file;
}

const sleeps = { command: ['/bin/sleep', '1000'] };
const ports = (hostPort: number): object[] => [{ containerPort: 80, hostPort }];
const addressOf = ({ status }: PodView): string => status.podIP ?? '';

async function readPod(name: string): Promise<PodView> {
  const { pods } = JSON.parse((await podwire('ps', '-o', 'json')).stdout) as { pods: PodView[] };
  return pods.find((pod) => pod.name === name)!;
}

/** The row of a pod in `ps`. */
async function rowOf(name: string): Promise<string> {
  const lines = (await podwire('ps')).stdout.split('\n');
  return lines.find((line) => line.includes(`default/${name} `)) ?? '';
}

const countOf = (text: string, part: string): number => text.split(part).length - 1;

test('a host without any network runs a pod that is probed, and its trace says what was waited for', async () => {
  const up = await podwire('up', checkoutFile('examples/web.yaml'));
  assert.equal(up.code, 0, up.stderr);
  const trace = await podwire('trace', 'pod/web', '-o', 'json');
  const { spans } = JSON.parse(trace.stdout) as { spans: { name: string; duration: number }[] };
  const names = spans.map(({ name }) => name);
  for (const wait of ['init container page', 'readiness probe of web', 'pod shop/web'])
    assert.ok(names.includes(wait), `${wait} is not among ${names.join(', ')}`);
  assert.match(
    await host.run(['ip', 'route', 'get', addressOf(await readPod('web'))]),
    / src 169\.254\.1\.1 /,
  );
});

test('a host port that another pod still has is said once, and in the row of the pod', async () => {
  const script = 'trap "" TERM; while [ ! -e /end ]; do sleep 0.1; done';
  const old = writePod(
    'old',
    { command: ['/bin/sh', '-c', script], ports: ports(7000) },
    { terminationGracePeriodSeconds: 600 },
  );
  assert.equal((await podwire('up', old)).code, 0);
  fs.rmSync(old);
  await eventually('the old pod is taken down', async () => (await readPod('old')).stage === 'terminating');
  await podwire('up', '-d', writePod('new', { ...sleeps, ports: ports(7000) }));
  await eventually('a failure', async () => (await readPod('new')).events.length > 0);
  const [{ reason, message }] = (await readPod('new')).events as [PodView['events'][number]];
  assert.equal(reason, 'FailedCreatePodSandBox');
  assert.equal(countOf(message, 'is taken by pod default/old'), 1, message);
  assert.equal(countOf(message, 'PORT_IN_USE'), 1, message);
  assert.match(await rowOf('new'), / HostPort: 7000\/tcp is taken by pod default\/old$/);
  await podwire('exec', 'old', '--', '/bin/sh', '-c', ': > /end');
});

test('a host port on which a process of the node listens is a warning that goes with the process', async () => {
  const server = await serveEcho(host.namespace, 'tcp', '0.0.0.0', 7100);
  const words = /host port 7100\/tcp hides a process of this node that listens on 0\.0\.0\.0:7100; `ss -lnpt/;
  const up = await podwire('up', '-o', 'json', writePod('app', { ...sleeps, ports: ports(7100) }));
  const { warnings } = JSON.parse(up.stdout) as { warnings: string[] };
  assert.match(warnings.join('\n'), new RegExp(`^pod/default/app: ${words.source}`), up.stderr);
  const ask = (...words: string[]): Promise<string> =>
    host.run([
      ...[process.execPath, checkoutFile('bin/podwire'), ...words],
      ...['--socket', placesIn(directory()).agentApi],
    ]);
  const status = (await ask('status')).replaceAll(/\s+/g, ' ');
  assert.match(status, new RegExp(`warning pod default/app: ${words.source}`));
  assert.match(await ask('explain', 'pod/app'), new RegExp(`warning: ${words.source}`));
  assert.match((await podwire('describe', 'pod/app')).stdout, new RegExp(`warning: ${words.source}`));
  await server.close();
  assert.doesNotMatch((await podwire('describe', 'pod/app')).stdout, /warning/);
});

test('without a node agent the row says so, and the message once', async () => {
  const { started, agentConfig, agentApi } = placesIn(directory());
  const { agent } = JSON.parse(fs.readFileSync(started, 'utf8')) as { agent: ProcessMark };
  await endProcesses([agent]);
  await podwire('up', '-d', writePod('late', sleeps));
  await eventually('a failure', async () => (await readPod('late')).events.length > 0, { timeout: 30_000 });
  const [{ message }] = (await readPod('late')).events as [PodView['events'][number]];
  assert.equal(countOf(message, 'the Podwire agent cannot be reached'), 1, message);
  assert.match(await rowOf('late'), / NetworkNotReady: no node agent answers$/);
  const described = await podwire('describe', 'pod/late');
  assert.match(described.stdout, /Network\n {2}no agent answers at/);
  assert.match(described.stdout, /What to do\n {2}Start the node agent/);
  const { stdout } = await podwire('events', 'late', '-o', 'json');
  const { events } = JSON.parse(stdout) as { events: { name: string; reason: string }[] };
  assert.deepEqual(
    events.map(({ name, reason }) => `${name} ${reason}`),
    ['late FailedCreatePodSandBox'],
  );
  // Pods are taken down through it.
  host.start([process.execPath, checkoutFile('bin/podwire'), 'agent', '--config', agentConfig]);
  await host.run([process.execPath, checkoutFile('bin/podwire'), 'status', '--wait', '--socket', agentApi]);
});
