import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { warmThreadPool } from '@podwire/linux';
import {
  openTestbedNamespace,
  type TestbedNamespace,
  type TestbedRecord,
  defaultShape,
} from '@podwire/testbed';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';
import { pathsBelow } from '../src/paths.js';
import type { OpenRecord } from '../src/record.js';
import { createTestbedStore } from '../src/run/store.js';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-testbed-store-'));
let made: TestNamespace;
let namespace: TestbedNamespace;

before(async () => {
  await warmThreadPool();
  made = createTestNamespace(`pwt-${process.pid}-store`);
  await made.ip('link set lo up');
  namespace = openTestbedNamespace(made.path);
});
after(() => {
  namespace.release();
  made.delete();
  fs.rmSync(directory, { recursive: true, force: true });
});

/** Takes connections, says so, and never answers: as an etcd that is stopped or waits for its disk. */
const silentServer = `#!${process.execPath}
require('node:net').createServer(() => console.log('asked')).listen(2379, '127.0.0.1');
`;

function recordInMemory(): OpenRecord {
  let current: TestbedRecord = {
    ...{ version: 1, name: 'store', shape: defaultShape, createdAt: 0, phase: 'coming up' },
    ...{ namespaces: [], processes: [], pods: [] },
    owner: { what: 'test', pid: process.pid, startTime: '0' },
  };
  return {
    paths: pathsBelow(directory),
    get current() {
      return current;
    },
    update: (change) => void (current = { ...current, ...change(current) }),
  };
}

test(
  'an etcd that takes connections and does not answer does not hold a caller that gives up',
  { timeout: 60_000 },
  async () => {
    const etcd = path.join(directory, 'etcd');
    fs.writeFileSync(etcd, silentServer, { mode: 0o755 });
    const { server } = createTestbedStore({
      ...{ kind: 'etcd', record: recordInMemory(), namespace, gateway: { ipv4: '127.0.0.1/8' }, etcd },
    });
    const over = new AbortController();
    const starting = server.start(over.signal);
    starting.catch(() => undefined);
    try {
      while (!server.log().includes('asked')) await sleep(20);
      over.abort(new Error('enough'));
      await assert.rejects(starting, /enough/);
    } finally {
      await server.kill9();
    }
  },
);
