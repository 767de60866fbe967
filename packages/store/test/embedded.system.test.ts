/** The embedded store with several processes, some of which are killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '../src/index.js';
import { openEmbeddedStore } from '../src/embedded/index.js';

const program = path.join(import.meta.dirname, 'support/embedded-child.js');
const patience = { timeout: 120_000 };

let directory: string;
let store: Store;
const children = new Set<ChildProcess>();

before(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-store-system-'));
  store = await openEmbeddedStore(path.join(directory, 'store'), { log: silentLog, clock: systemClock });
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await store.close();
  fs.rmSync(directory, { recursive: true });
});

interface Child {
  /** The next line it tells; undefined when it has ended. */
  next(): Promise<string | undefined>;
  kill(): Promise<void>;
}

function run(...[command = '', ...args]: readonly string[]): Child {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const ended = once(child, 'exit').then(() => children.delete(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const line = await lines.next();
      return line.done === true ? undefined : line.value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const start = (...args: readonly string[]): Child =>
  run(process.execPath, program, path.join(directory, 'store'), ...args);

test('processes that count together lose nothing, and each change is told here', patience, async () => {
  const times = 50;
  const told: string[] = [];
  const over = new AbortController();
  const watching = (async () => {
    for await (const batch of store.watch('/count', { signal: over.signal })) {
      for (const change of batch.type === 'changes' ? batch.changes : [])
        if (change.type === 'put') told.push(change.item.value);
      if (told.length === 4 * times) return;
    }
  })();
  const counting = [1, 2, 3, 4].map(() => start('count', String(times)));
  for (const child of counting) assert.equal(await child.next(), 'done');
  assert.equal((await store.get('/count'))?.value, String(4 * times));
  await watching;
  assert.deepEqual(
    told,
    Array.from({ length: 4 * times }, (_, index) => String(index + 1)),
  );
});

test(
  'what a process was told is done outlives its being killed, and nothing is half done',
  patience,
  async () => {
    let last = 0;
    for (let round = 0; round < 12; round++) {
      const child = start('pairs');
      for (let lines = 0; lines < 5 + 7 * round; lines++) last = Number(await child.next());
      await child.kill();
      for (let line = await child.next(); line !== undefined; line = await child.next()) last = Number(line);
      const [a, z] = [await store.get('/a'), await store.get('/z')];
      assert.ok(a !== undefined && z !== undefined);
      assert.deepEqual([a.value, a.revision], [z.value, z.revision]);
      const pair = await store.get(`/pairs/${Number(a.value) % 50}`);
      assert.deepEqual([pair?.value, pair?.revision], [a.value, a.revision]);
      // One more may be done than it could tell.
      assert.ok([last, last + 1].includes(Number(a.value)), `${a.value} after ${last}`);
      await store.put('/mine', String(round));
    }
  },
);

test('the lease of a process that was killed ends in its time', patience, async () => {
  const child = start('hold', '1500');
  assert.equal(await child.next(), 'held');
  await child.kill();
  assert.equal((await store.get('/held'))?.value, 'x');
  const over = new AbortController();
  for await (const batch of store.watch('/held', { signal: over.signal }))
    if (batch.type === 'changes' && batch.changes.some(({ type }) => type === 'delete')) break;
  assert.equal(await store.get('/held'), undefined);
});

test('a full disk is STORE_FULL, and deleting makes room', patience, async () => {
  const place = path.join(directory, 'small');
  fs.mkdirSync(place);
  const child = run(
    'unshare',
    '--mount',
    '--propagation',
    'private',
    process.execPath,
    program,
    place,
    'fill',
  );
  assert.equal(await child.next(), 'STORE_FULL');
  assert.equal(await child.next(), 'emptied true');
  assert.equal(await child.next(), undefined);
});

test('the package without an embedded store open does not load LMDB', patience, async () => {
  const script = `
    const { openStore } = await import('@podwire/store');
    await import('@podwire/store/embedded');
    const maps = (await import('node:fs')).readFileSync('/proc/self/maps', 'utf8');
    console.log(typeof openStore, /lmdb/.test(maps));
  `;
  const child = run(process.execPath, '--input-type=module', '--eval', script);
  assert.equal(await child.next(), 'function false');
});
