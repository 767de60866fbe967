import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { bindMount, mountTmpfs, unmount, unmountLazily } from '@podwire/linux';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-mount-'));
const mounted = new Set<string>();

after(() => {
  for (const target of mounted) unmountLazily(target);
  fs.rmSync(directory, { recursive: true });
});

function makeDirectory(name: string): string {
  const target = path.join(directory, name);
  fs.mkdirSync(target);
  return target;
}

test('a tmpfs holds what its size allows and no more', () => {
  const target = makeDirectory('memory');
  mountTmpfs(target, { sizeBytes: 64 * 1024, mode: 0o1777 });
  mounted.add(target);
  assert.equal(fs.statSync(target).mode & 0o7777, 0o1777);
  fs.writeFileSync(path.join(target, 'small'), Buffer.alloc(32 * 1024));
  assert.throws(() => fs.writeFileSync(path.join(target, 'large'), Buffer.alloc(64 * 1024)), {
    code: 'ENOSPC',
  });
  unmount(target);
  mounted.delete(target);
  assert.deepEqual(fs.readdirSync(target), []);
});

test('a busy mount is not taken away, unless lazily', () => {
  const target = makeDirectory('busy');
  mountTmpfs(target);
  mounted.add(target);
  const fd = fs.openSync(path.join(target, 'open'), 'w');
  assert.throws(() => unmount(target), { syscall: 'umount2', code: 'EBUSY' });
  unmountLazily(target);
  mounted.delete(target);
  fs.closeSync(fd);
  assert.deepEqual(fs.readdirSync(target), []);
});

test('what is no mount point is said to be none, and a link to one is not followed', () => {
  const target = makeDirectory('target');
  assert.throws(() => unmount(target), { code: 'EINVAL' });
  mountTmpfs(target);
  mounted.add(target);
  const link = path.join(directory, 'link');
  fs.symlinkSync(target, link);
  assert.throws(() => unmount(link), { code: 'EINVAL' });
  unmount(target);
  mounted.delete(target);
});

test('a file can be seen under a second name', () => {
  const [source, target] = [path.join(directory, 'source'), path.join(directory, 'second')];
  fs.writeFileSync(source, 'hello');
  fs.writeFileSync(target, '');
  bindMount(source, target);
  mounted.add(target);
  assert.equal(fs.readFileSync(target, 'utf8'), 'hello');
  unmount(target);
  mounted.delete(target);
});
