/** The demo from beginning to end, interrupted, killed, and kept: nothing of it may be left. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { createNamespace, deleteNamespace, markProcess } from '@podwire/linux';
import { listTestbeds } from '@podwire/testbed';
import { checkoutFile } from '@podwire/cli/command';
import { keepNamespacesOpen } from '../src/teardown.js';
import type { ManyNodesReport } from '../src/many-nodes.js';
import type { DemoReport } from '../src/run-demo.js';

interface Ended {
  readonly pid: number;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves when standard error matches. */
  says(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** As `head` does when it has enough. */
  stopReading(): void;
}

function start(argv: readonly string[]): Started {
  const child = spawn(process.execPath, [checkoutFile('bin/podwire'), ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid!;
  const text = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text.stdout += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text.stderr += more));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ pid, code, ...text }));
  });
  const says = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (pattern.test(text.stderr)) resolve();
      };
      child.stderr.on('data', look);
      child.once('close', () => reject(new Error(`it ended without saying ${pattern}:\n${text.stderr}`)));
      look();
    });
  return {
    pid,
    ended,
    says,
    kill: (signal) => child.kill(signal),
    stopReading: () => child.stdout.destroy(),
  };
}

/** Namespaces and directories of the demo that this process ran. */
function leftOf(pid: number): string[] {
  const name = `podwire-demo-${pid}`;
  const own = (entry: string): boolean => entry === name || entry.startsWith(`${name}-`);
  return [...fs.readdirSync('/run/netns').filter(own), ...fs.readdirSync('/run').filter(own)];
}

/** From the manifest over the sandbox and the plugin to single resources of the engine. */
function assertWholeTrace({ trace }: DemoReport): void {
  const names = trace.spans.map(({ name }) => name);
  for (const name of ['merge', 'RunPodSandbox', 'agent ADD', 'apply', 'StartContainer'])
    assert.ok(names.includes(name), `${name} in ${names.join(', ')}`);
  assert.equal(new Set(trace.spans.map(({ traceId }) => traceId)).size, 1);
  assert.ok(trace.spans.some(({ attributes }) => attributes['podwire.resource'] === 'veth'));
}

test('shows that everything works, in JSON, and leaves nothing', async () => {
  const { pid, code, stdout, stderr } = await start(['demo', '-o', 'json']).ended;
  assert.equal(code, 0, stdout + stderr);
  const report = JSON.parse(stdout) as DemoReport;
  assert.deepEqual(
    report.pods.map(({ view }) => [view.name, view.status.phase]),
    [
      ['web', 'Running'],
      ['client', 'Running'],
      ['limited', 'Running'],
    ],
  );
  assert.deepEqual(
    report.checks.filter(({ ok }) => !ok),
    [],
  );
  // Both protocols and both families, from every pod, and the host ports.
  assert.equal(report.checks.length, 4 * (3 * 4 + 4) + 2 * 2 * 4);
  const outside = report.checks.filter(({ to }) => to === 'world');
  assert.ok(outside.every(({ saw }) => saw === '192.0.2.10' || saw === '2001:db8:2::10'));
  const [into, outOf, free] = report.rates;
  assert.deepEqual([into?.limit, outOf?.limit, free?.limit], [10_000_000, 5_000_000, undefined]);
  for (const { measured } of [into!, outOf!])
    assert.ok(measured * 5 < free!.measured, JSON.stringify(report.rates));
  assertWholeTrace(report);
  assert.deepEqual(report.ending?.left, { namespaces: 0, processes: 0, mounts: 0, files: 0 });
  assert.equal(report.ending.before.namespaces, 5);
  assert.deepEqual(leftOf(pid), []);
});

test('tells people what it does: tables on standard output, progress beside it', async () => {
  const { code, stdout, stderr } = await start(['demo']).ended;
  assert.equal(code, 0, stdout + stderr);
  for (const title of [
    'Pods',
    'Who reaches whom',
    'Host ports',
    'Rates',
    'From the manifest to the first packet',
  ]) {
    assert.match(stdout, new RegExp(`^${title}$`, 'm'));
  }
  assert.match(stdout, /^80 of 80 as expected/m);
  assert.match(stdout, /^Nothing is left of 5 namespaces, \d+ processes, 3 mounts, \d+ files\.$/m);
  assert.doesNotMatch(stdout, /✗/);
  assert.match(stderr, /^✓ pod\/shop\/web ready 10\.244\.0\.\d+ fd00:244::/m);
});

for (const [when, pattern] of [
  ['while the agent starts', /private host/],
  ['while pods come up', /pod agent started/],
  ['while packets travel', /an observer in every pod/],
  ['while bytes are poured', /packets sent/],
] as const) {
  test(`Ctrl-C ${when}: everything is put away`, async () => {
    const demo = start(['demo']);
    await demo.says(pattern);
    demo.kill('SIGINT');
    const { code, stdout, stderr } = await demo.ended;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /^Nothing is left of /m);
    assert.match(stderr, /INTERRUPTED\n$/);
    assert.deepEqual(leftOf(demo.pid), []);
  });
}

test('when the output has no reader any more, everything is removed as after Ctrl-C', async () => {
  const running = start(['demo']);
  running.stopReading();
  const { pid, code, stderr } = await running.ended;
  assert.equal(code, 141, stderr);
  assert.match(stderr, /✓ everything else put away/);
  assert.deepEqual(leftOf(pid), []);
});

test('the number of a namespace is not reused while a demo is known by it', () => {
  const names = ['old', 'new'].map((suffix) => `podwire-demo-${process.pid}-${suffix}`) as [string, string];
  const [old, next] = names.map((name) => `/run/netns/${name}`) as [string, string];
  createNamespace(old);
  const { ino } = fs.statSync(old);
  const owner = markProcess('demo', process.pid);
  const record = { name: names[0], owner, directory: '/nonexistent', processes: [], kept: false };
  const closeNamespaces = keepNamespacesOpen({ ...record, namespaces: names });
  try {
    deleteNamespace(old);
    createNamespace(next);
    assert.notEqual(fs.statSync(next).ino, ino);
  } finally {
    closeNamespaces();
    for (const file of [old, next]) if (fs.existsSync(file)) deleteNamespace(file);
  }
});

/** The namespaces of its pods, in the place that the whole machine has. */
function pinsOf(pid: number): string[] {
  const sandboxes = fs.readdirSync(`/run/podwire-demo-${pid}/embedded/sandboxes`);
  return sandboxes.map((id) => `/run/netns/podwire-${id}`).filter((pin) => fs.existsSync(pin));
}

/** No process is left that could take pods down in order. */
function killAgents(demo: number): void {
  const text = fs.readFileSync(`/run/podwire-demo-${demo}/started.json`, 'utf8');
  const { agent, podlet } = JSON.parse(text) as Record<'agent' | 'podlet', { readonly pid: number }>;
  for (const { pid } of [agent, podlet]) process.kill(pid, 'SIGKILL');
}

/** A pod's own program reaches another one through the node's port. */
async function untilClientWasAnswered(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { stdout } = await start(['logs', 'client', '--directory', directory]).ended;
    if (stdout.includes('Hello from pod web.')) return;
  }
  throw new Error('the client had no answer');
}

test('what kill -9 leaves behind, and what --keep keeps, demo --end takes away', async () => {
  const killed = start(['demo']);
  await killed.says(/pod\/shop\/web ready/);
  killed.kill('SIGKILL');
  await killed.ended;
  assert.notDeepEqual(leftOf(killed.pid), []);
  const pins = pinsOf(killed.pid);
  assert.equal(pins.length, 3);
  killAgents(killed.pid);

  const kept = await start(['demo', '--keep']).ended;
  assert.equal(kept.code, 0, kept.stdout + kept.stderr);
  const directory = /PODWIRE_DIRECTORY=(\S+)/.exec(kept.stdout)?.[1] ?? '';
  assert.equal(directory, `/run/podwire-demo-${kept.pid}`);
  const pods = await start(['ps', '--directory', directory, '-o', 'name']).ended;
  assert.deepEqual(pods.stdout.trim().split('\n').sort(), [
    'pod/shop/client',
    'pod/shop/limited',
    'pod/shop/web',
  ]);
  const explained = await start(['explain', 'pod/shop/limited', '--socket', `${directory}/api.sock`]).ended;
  assert.equal(explained.code, 0, explained.stdout);
  await untilClientWasAnswered(directory);

  for (const { pid } of [killed, kept]) {
    const end = await start(['demo', '--end', `podwire-demo-${pid}`]).ended;
    assert.equal(end.code, 0, end.stdout + end.stderr);
    assert.equal(end.stdout, `ended podwire-demo-${pid}: nothing is left\n`);
    assert.deepEqual(leftOf(pid), []);
  }
  assert.deepEqual(
    pins.filter((pin) => fs.existsSync(pin)),
    [],
  );
});

test('many nodes afterwards, killed or not: nothing is left of them', async () => {
  const nodes = ['demo', '--nodes', '2'];
  const { code, stdout, stderr } = await start([...nodes, '-o', 'json']).ended;
  assert.equal(code, 0, stdout + stderr);
  const { manyNodes } = JSON.parse(stdout) as { manyNodes: ManyNodesReport };
  assert.ok(manyNodes.connectivity.ok);
  assert.equal(manyNodes.connectivity.parties.filter(({ kind }) => kind === 'node').length, 2);
  assert.deepEqual(manyNodes.left, { namespaces: 0, processes: 0, files: 0 });
  const killed = start(nodes);
  await killed.says(/✓ 2 agents ready/);
  killed.kill('SIGKILL');
  await killed.ended;
  const name = `demo-${killed.pid}`;
  assert.ok(listTestbeds().includes(name));
  const end = await start(['demo', '--end']).ended;
  assert.equal(end.code, 0, end.stderr);
  assert.match(end.stdout, new RegExp(`^ended ${name}: nothing is left$`, 'm'));
  assert.ok(!listTestbeds().includes(name));
});

test('a demo that runs is not ended by others', async () => {
  const running = start(['demo']);
  await running.says(/private host/);
  const end = await start(['demo', '--end', `podwire-demo-${running.pid}`]).ended;
  assert.deepEqual([end.code, end.stdout], [2, '']);
  assert.match(end.stderr, /there is no demo podwire-demo-\d+ that goes on/);
  running.kill('SIGTERM');
  assert.equal((await running.ended).code, 143);
  assert.deepEqual(leftOf(running.pid), []);
});

for (const runtime of ['containerd', 'docker']) {
  test(`the same pods with the same results on ${runtime}`, async () => {
    const { pid, code, stdout, stderr } = await start(['demo', '--runtime', runtime, '-o', 'json']).ended;
    assert.equal(code, 0, stdout + stderr);
    const report = JSON.parse(stdout) as DemoReport;
    assert.equal(report.checks.length, 80);
    assert.ok(report.checks.every(({ ok }) => ok));
    assertWholeTrace(report);
    assert.deepEqual(report.ending?.left, { namespaces: 0, processes: 0, mounts: 0, files: 0 });
    assert.deepEqual(leftOf(pid), []);
  });
}
