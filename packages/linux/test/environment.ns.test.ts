import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  countFiles,
  createNamespace,
  inNamespace,
  killEnvironment,
  namespacesBelow,
  openNamespace,
  listEnvironmentProcesses,
  unmountBelow,
  warmThreadPool,
} from '@podwire/linux';

const directory = `/run/podwire-environment-${process.pid}`;
const pin = path.join(directory, 'ns', 'one');

before(async () => {
  await warmThreadPool();
  createNamespace(pin);
  fs.writeFileSync(path.join(directory, 'record'), '');
});
after(() => {
  unmountBelow(directory);
  fs.rmSync(directory, { recursive: true, force: true });
});

function startInside(): ChildProcess {
  const namespace = openNamespace(pin);
  try {
    return inNamespace(namespace, () => spawn('sleep', ['1000'], { stdio: 'ignore' }));
  } finally {
    namespace.close();
  }
}

test('a pinned namespace is counted as such, and not as a file', () => {
  assert.deepEqual([...namespacesBelow(directory)], [fs.statSync(pin).ino]);
  assert.equal(countFiles(directory), 1);
  assert.equal(countFiles(`${directory}/nowhere`), 0);
});

test('the processes in the namespaces of an environment are killed, and no others', async () => {
  const inside = startInside();
  const outside = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    const ended = once(inside, 'exit');
    await killEnvironment(namespacesBelow(directory), directory);
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    assert.deepEqual(listEnvironmentProcesses(namespacesBelow(directory), directory), []);
    assert.equal(outside.exitCode ?? outside.signalCode, null);
  } finally {
    outside.kill('SIGKILL');
  }
});
