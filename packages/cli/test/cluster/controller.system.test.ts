/** `podwire controller` as people run it: processes on one embedded store. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { blockKind, keysBelow, nodeKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore } from '@podwire/store';

const program = path.resolve(import.meta.dirname, '../../../../../bin/podwire');
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-controller-'));
const store = `embedded:${directory}/store`;
const running = new Set<ChildProcess>();

after(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  fs.rmSync(directory, { recursive: true, force: true });
});

interface Candidate {
  readonly child: ChildProcess;
  /** Resolves with the next log line of this message. */
  said(message: string): Promise<Record<string, unknown>>;
}

function startController(name: string, ...options: readonly string[]): Candidate {
  const words = ['controller', '--store', store, '--name', name, '--lease', '2s', ...options];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const lines: Record<string, unknown>[] = [];
  const wakes = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
    for (const wake of [...wakes]) wake();
  });
  return {
    child,
    said: (message) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(({ msg }) => msg === message);
          if (found === undefined) return;
          wakes.delete(look);
          resolve(found);
        };
        wakes.add(look);
        child.once('exit', (code) =>
          reject(new Error(`${name} has ended with ${code} before it said ${message}`)),
        );
        look();
      }),
  };
}

const podwire = async (...words: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(program, [...words, '--store', store], { timeout: 30_000 });
  return stdout;
};

test('pools are made on an embedded store that did not exist', { timeout: 60_000 }, async () => {
  await podwire('pool', 'create', 'main', '10.244.0.0/16');
  assert.equal(await podwire('pool', 'list', '-o', 'name'), 'main\n');
  assert.match(await podwire('ipam', 'check'), /nothing is wrong/);
});

test(
  'one leads, another takes over when it dies, and gives it back when it is stopped',
  { timeout: 60_000 },
  async () => {
    const first = startController('first');
    await first.said('leads');
    const second = startController('second');
    await second.said('the controller is a candidate');
    first.child.kill('SIGKILL');
    assert.equal((await second.said('leads'))['holder'], 'second');
    const third = startController('third', '--metrics', '127.0.0.1:0');
    await third.said('the controller is a candidate');
    second.child.kill('SIGTERM');
    const [code] = (await once(second.child, 'exit')) as [number];
    assert.equal(code, 143);
    assert.equal((await third.said('leads'))['holder'], 'third');
  },
);

test(
  'a node that does not come back is released, and garbage is collected',
  { timeout: 60_000 },
  async () => {
    const root = '/second';
    const keys = keysBelow(root);
    const opened = await openStore(
      { kind: 'embedded', directory: `${directory}/store` },
      { clock: systemClock, log: silentLog },
    );
    const node = {
      name: 'n1',
      instance: 'i1',
      version: '0',
      labels: {},
      addresses: {},
      mtu: 1500,
      registeredAt: 1,
    };
    const block = { cidr: '10.244.0.0/26', state: 'confirmed' as const, claimedAt: 1, loans: [] };
    try {
      await podwire('pool', 'create', 'main', '10.244.0.0/16', '--root', root);
      await opened.put(keys.node('n1'), encodeObject(nodeKind, node));
      await opened.put(
        keys.block(block.cidr),
        encodeObject(blockKind, { ...block, node: 'n1', instance: 'i1' }),
      );
      const nobodys = '10.244.1.0/26';
      await opened.put(keys.block(nobodys), encodeObject(blockKind, { ...block, cidr: nobodys }));
      const controller = startController('n9', '--root', root, '--vanish-after', '2s', '--grace', '2s');
      await controller.said('a node is unreachable; its pods may still run');
      assert.match(await podwire('nodes', '--root', root), /n1 +unreachable/);
      const released = await controller.said(
        'the eviction timeout of a node is over; its blocks and borrowed addresses are released',
      );
      assert.deepEqual(released['blocks'], [block.cidr]);
      await controller.said('cleaned up');
      assert.deepEqual((await opened.list(`${root}/shared/blocks/`)).items, []);
      assert.deepEqual((await opened.list(`${root}/shared/nodes/`)).items, []);
      controller.child.kill('SIGTERM');
      await once(controller.child, 'exit');
    } finally {
      await opened.close();
    }
  },
);

test('a place for metrics that cannot be had is an error', { timeout: 60_000 }, async () => {
  const failed = execFile(program, ['controller', '--store', store, '--metrics', '192.0.2.1:9402']);
  let told = '';
  failed.stderr?.on('data', (text: string) => (told += text));
  const [code] = (await once(failed, 'close')) as [number];
  assert.equal(code, 1);
  assert.match(told, /--metrics: cannot listen at 192\.0\.2\.1:9402/);
});
