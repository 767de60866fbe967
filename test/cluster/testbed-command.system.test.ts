import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathsOf, readRecord, tearDownTestbed, type TestbedRecord } from '@podwire/testbed';
import { podwireSays, runPodwire, startPodwire } from './support/command.js';
import { describeMachine, remainsOf } from './support/machine.js';

const names: string[] = [];
const freshName = (): string => {
  const name = `c-${process.pid}-${names.length}`;
  names.push(name);
  return name;
};
after(async () => {
  for (const name of names) await tearDownTestbed(name);
});

describe('the command', () => {
  test('up, status, exec, connectivity, down', async () => {
    const machine = await describeMachine();
    const name = freshName();
    const up = await podwireSays('testbed', 'up', '--name', name, '--nodes', '2', '--pods', '1');
    assert.equal(up.exit.code, 0, up.stderr);
    assert.match(up.stdout, /node2 .*ready/);
    assert.match(up.stdout, new RegExp(`connectivity test( --testbed ${name})? `));
    assert.equal(fs.statSync(pathsOf(name).directory).mode & 0o777, 0o700);

    const status = JSON.parse(await runPodwire('testbed', 'status', '--name', name, '-o', 'json')) as {
      nodes: { name: string; agent: { ready: boolean } }[];
      pods: { name: string; addresses: string[] }[];
    };
    assert.deepEqual(
      status.nodes.map((node) => [node.name, node.agent.ready]),
      [
        ['node1', true],
        ['node2', true],
      ],
    );
    const address = status.pods.find((pod) => pod.name === 'pod2a')?.addresses[0] ?? '';
    const inPod = await runPodwire('testbed', 'exec', '--name', name, 'pod2a', '--', 'ip', '-o', 'addr');
    assert.ok(inPod.includes(address), inPod);
    const onNode = await runPodwire('testbed', 'exec', '--name', name, 'node1', '--', 'podwire', 'pods');
    assert.match(onNode, /pod1a/);
    const failing = await podwireSays('testbed', 'exec', '--name', name, 'node1', '--', 'sh', '-c', 'exit 7');
    assert.equal(failing.exit.code, 7);

    const green = await podwireSays('connectivity', 'test', '--testbed', name);
    assert.equal(green.exit.code, 0, green.stdout);
    assert.match(green.stdout, /FROM \\ TO +pod1a +pod2a +node1 +node2 +outside/);

    const here = [
      'testbed',
      'exec',
      '--name',
      name,
      'node1',
      '--',
      'podwire',
      'connectivity',
      'test',
      '--node',
    ];
    const own = await podwireSays(...here);
    assert.equal(own.exit.code, 0, own.stdout + own.stderr);
    assert.match(own.stdout, /FROM \\ TO +pod1a +node1( +pod2a)? +node2/);

    await runPodwire('testbed', 'exec', '--name', name, 'fabric', '--', 'ip', 'link', 'set', 'node2', 'down');
    const red = await podwireSays('connectivity', 'test', '--testbed', name, '--deadline', '1000');
    assert.equal(red.exit.code, 4);
    assert.match(
      red.stdout,
      /✗ pod1a \(node1\) → pod2a \(node2\), IPv4 and IPv6, TCP and full-size datagrams: no answer within 1000 ms\n/,
    );
    assert.match(red.stdout, /All of it has to do with node2\./);
    const json = await podwireSays(
      'connectivity',
      'test',
      '--testbed',
      name,
      '--deadline',
      '300',
      '-o',
      'json',
    );
    assert.equal(json.exit.code, 4);
    const report = JSON.parse(json.stdout) as { ok: boolean; results: { ok: boolean }[] };
    assert.equal(report.ok, false);
    assert.ok(report.results.some(({ ok }) => ok));

    const down = await podwireSays('testbed', 'down', '--name', name);
    assert.equal(down.exit.code, 0, down.stderr);
    assert.match(down.stdout, /^Nothing is left of 5 namespaces, 3 processes, \d+ files\.$/m);
    assert.deepEqual(remainsOf(name), []);
    assert.deepEqual(await describeMachine(), machine);
    const again = await podwireSays('testbed', 'down', '--name', name);
    assert.equal(again.exit.code, 1);
    assert.match(again.stderr, new RegExp(`there is no testbed ${name}`));
  });

  test('--foreground: Ctrl-C takes it down', async () => {
    const name = freshName();
    const up = startPodwire('testbed', 'up', '--name', name, '--nodes', '1', '--pods', '1', '--foreground');
    await up.waitForOutput(/It goes on until Ctrl-C/);
    assert.equal(readRecord(pathsOf(name))?.phase, 'up');
    up.kill('SIGINT');
    assert.equal((await up.exited).code, 130);
    assert.deepEqual(remainsOf(name), []);
  });

  test('Ctrl-C while it comes up takes away what there is', async () => {
    const name = freshName();
    const up = startPodwire('testbed', 'up', '--name', name);
    await untilRecord(name, ({ processes }) => processes.length > 1);
    up.kill('SIGINT');
    assert.equal((await up.exited).code, 130, up.stderr());
    assert.deepEqual(remainsOf(name), []);
  });
});

describe('up is killed with -9, down takes away what it has made', () => {
  const points: Readonly<Record<string, (record: TestbedRecord) => boolean>> = {
    'as soon as there is anything': () => true,
    'in the middle of the namespaces': ({ namespaces }) => namespaces.length > 1,
    'while etcd starts': ({ processes }) => processes.length > 0,
    'while agents start': ({ processes }) => processes.length > 2,
    'while pods are attached': ({ pods }) => pods.length > 1,
    'when it has just come up': ({ phase }) => phase === 'up',
  };
  test('before there is anything but a draft', async () => {
    const name = freshName();
    const dead = startPodwire('version');
    await dead.exited;
    const draft = `/run/podwire-testbed/.${name}.${dead.pid}`;
    fs.mkdirSync(draft, { recursive: true, mode: 0o700 });
    const down = await podwireSays('testbed', 'down', '--name', name);
    assert.equal(down.exit.code, 0, down.stderr);
    assert.deepEqual(remainsOf(name), []);
  });

  for (const [when, isThere] of Object.entries(points))
    test(when, async () => {
      const name = freshName();
      const up = startPodwire('testbed', 'up', '--name', name);
      await untilRecord(name, isThere);
      up.kill('SIGKILL');
      await up.exited;
      const down = await podwireSays('testbed', 'down', '--name', name, '-o', 'json');
      assert.equal(down.exit.code, 0, down.stderr);
      const nothing = { namespaces: 0, processes: 0, files: 0 };
      const { ended } = JSON.parse(down.stdout) as { ended: { left: object }[] };
      assert.deepEqual(
        ended.map(({ left }) => left),
        [nothing],
      );
      assert.deepEqual(remainsOf(name), []);
    });
});

/** Looks again and again: the record changes faster than a watcher tells. */
async function untilRecord(name: string, isThere: (record: TestbedRecord) => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const record = readRecord(pathsOf(name));
    if (record !== undefined && isThere(record)) return;
    if (performance.now() > end) throw new Error(`the testbed ${name} does not get there`);
    await sleep(1);
  }
}
