import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import {
  createNamespace,
  deleteNamespace,
  inNamespace,
  type NamespaceHandle,
  openNamespace,
  openOwnNamespace,
  warmThreadPool,
} from '@podwire/linux';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-linux-'));
const cleanups: (() => void)[] = [];
let count = 0;

after(() => {
  for (const cleanUp of cleanups.reverse()) cleanUp();
  fs.rmSync(directory, { recursive: true });
});

/** A new namespace and its file. */
function makeNamespace(): { file: string; handle: NamespaceHandle } {
  const file = `/run/netns/podwire-linux-${process.pid}-${count++}`;
  createNamespace(file);
  const handle = openNamespace(file);
  cleanups.push(() => {
    handle.close();
    deleteNamespace(file);
  });
  return { file, handle };
}

/** The inode of the namespace that this thread is in. */
const here = (): string => fs.readlinkSync('/proc/thread-self/ns/net');

test('a namespace is made, is another one, and is gone when it is deleted', () => {
  const before = here();
  const file = path.join(directory, 'deep', 'pod');
  createNamespace(file);
  assert.equal(here(), before);
  const handle = openNamespace(file);
  const own = openOwnNamespace();
  assert.notEqual(handle.inode, own.inode);
  assert.equal(before, `net:[${own.inode}]`);
  own.close();
  handle.close();
  deleteNamespace(file);
  assert.equal(fs.existsSync(file), false);
  deleteNamespace(file);
});

test('ip-netns(8) sees it', () => {
  const { file } = makeNamespace();
  const links = execFileSync('ip', ['-n', path.basename(file), '-j', 'link'], { encoding: 'utf8' });
  assert.deepEqual(
    (JSON.parse(links) as { ifname: string }[]).map(({ ifname }) => ifname),
    ['lo'],
  );
});

test('a file that is there is not overwritten', () => {
  const { file, handle } = makeNamespace();
  assert.throws(() => createNamespace(file), { code: 'EEXIST' });
  const again = openNamespace(file);
  assert.equal(again.inode, handle.inode);
  again.close();
});

test('only network namespaces are opened', () => {
  const file = path.join(directory, 'file');
  fs.writeFileSync(file, 'x');
  assert.throws(() => openNamespace(file), { code: 'EINVAL' });
  assert.throws(() => openNamespace('/proc/self/ns/mnt'), { code: 'EINVAL' });
  assert.throws(() => openNamespace(directory), { code: 'EINVAL' });
  assert.throws(() => openNamespace(path.join(directory, 'nothing')), { code: 'ENOENT' });
  assert.throws(() => openNamespace(path.join(file, 'below')), { code: 'ENOTDIR' });
});

test('a pipe with the name of a namespace does not hang the caller', () => {
  const fifo = path.join(directory, 'fifo');
  execFileSync('mkfifo', [fifo]);
  assert.throws(() => openNamespace(fifo), { code: 'EINVAL' });
});

test('only namespaces are deleted', () => {
  const file = path.join(directory, 'precious');
  fs.writeFileSync(file, 'x');
  assert.throws(() => deleteNamespace(file), { code: 'EINVAL' });
  assert.equal(fs.readFileSync(file, 'utf8'), 'x');
});

test('work runs inside, and the thread comes back', () => {
  const before = here();
  const { handle } = makeNamespace();
  assert.equal(
    inNamespace(handle, () => here()),
    `net:[${handle.inode}]`,
  );
  assert.equal(here(), before);
  const fails = () => {
    throw new Error('from inside');
  };
  assert.throws(() => inNamespace(handle, fails), { message: 'from inside' });
  assert.equal(here(), before);
});

test('namespaces can be entered from inside another', () => {
  const before = here();
  const [outer, inner] = [makeNamespace().handle, makeNamespace().handle];
  const seen = inNamespace(outer, () => {
    const deep = inNamespace(inner, here);
    createNamespace(path.join(directory, 'from-inside'));
    return [deep, here()];
  });
  deleteNamespace(path.join(directory, 'from-inside'));
  assert.deepEqual(seen, [`net:[${inner.inode}]`, `net:[${outer.inode}]`]);
  assert.equal(here(), before);
});

test('what is no namespace is not entered', () => {
  const before = here();
  const fd = fs.openSync('/dev/null', 'r');
  assert.throws(() => inNamespace({ fd }, () => assert.fail('was run')), { code: 'EINVAL' });
  fs.closeSync(fd);
  assert.equal(here(), before);
});

test('asynchronous work is refused', () => {
  const { handle } = makeNamespace();
  assert.throws(() => inNamespace(handle, () => Promise.resolve()), TypeError);
});

test('threads of the pool stay at home when it was warmed there', async () => {
  const before = here();
  await warmThreadPool();
  const { handle } = makeNamespace();
  const readings = inNamespace(handle, () => ({
    all: Array.from({ length: 16 }, () => fs.promises.readlink('/proc/thread-self/ns/net')),
  }));
  assert.deepEqual(new Set(await Promise.all(readings.all)), new Set([before]));
});
