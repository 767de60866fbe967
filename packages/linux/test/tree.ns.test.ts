import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { bindMount, measureTree, removeTree, removeTreeSync, unmount } from '@podwire/linux';

/** In memory, since ten thousand directories take a busy disk long. */
const own = fs.mkdtempSync('/dev/shm/podwire-tree-');
const tree = path.join(own, 'tree');
const limits = { entries: 100_000, depth: 100 };

before(() => fs.mkdirSync(path.join(own, 'outside')));
beforeEach(() => fs.mkdirSync(tree));
after(() => execFileSync('rm', ['-rf', own]));

/** As a program does it that knows no paths: mkdir and chdir. A child, since a process that is in there has no path either. */
function makeDeep(depth: number, length: number): void {
  const script = `
    for (let i = 0; i < ${depth}; i++) {
      const name = String(i % 10).repeat(${length});
      require('fs').mkdirSync(name);
      require('fs').writeFileSync('file', 'x');
      process.chdir(name);
    }`;
  execFileSync(process.execPath, ['-e', script], { cwd: tree });
}

test('directories whose path is longer than a path may be are measured and removed', async () => {
  makeDeep(60, 200);
  const use = await measureTree(tree, limits);
  assert.deepEqual({ inodes: use.inodes, isWhole: use.isWhole }, { inodes: 120, isWhole: true });
  await removeTree(tree);
  assert.equal(fs.existsSync(tree), false);
});

test('ten thousand levels are removed with a few open files, and measured down to a depth', async () => {
  makeDeep(10_000, 3);
  const open = fs.readdirSync('/proc/self/fd').length;
  const use = await measureTree(tree, limits);
  assert.deepEqual({ inodes: use.inodes, isWhole: use.isWhole }, { inodes: 200, isWhole: false });
  const working = removeTree(tree);
  let most = 0;
  const look = setInterval(() => (most = Math.max(most, fs.readdirSync('/proc/self/fd').length)), 20);
  await working;
  clearInterval(look);
  assert.equal(fs.existsSync(tree), false);
  assert.equal(most < open + 20, true, `${most - open} files were open`);
});

test('what symbolic links lead to stays', async () => {
  const precious = path.join(own, 'outside', 'precious');
  fs.writeFileSync(precious, Buffer.alloc(1 << 20));
  fs.mkdirSync(path.join(tree, 'below'));
  for (const place of [tree, path.join(tree, 'below')]) {
    fs.symlinkSync(path.dirname(precious), path.join(place, 'directory'));
    fs.symlinkSync(precious, path.join(place, 'file'));
    fs.symlinkSync('/nowhere', path.join(place, 'dangling'));
  }
  const { bytes, inodes } = await measureTree(tree, limits);
  assert.equal(inodes, 7);
  assert.equal(bytes < 1 << 20, true);
  await removeTree(tree);
  assert.equal(fs.statSync(precious).size, 1 << 20);
  fs.symlinkSync(path.dirname(precious), tree);
  await removeTree(tree);
  assert.equal(fs.existsSync(precious), true);
});

test('a mount is neither entered nor removed, and all else is', async () => {
  const [outside, point] = [path.join(own, 'outside'), path.join(tree, 'a', 'point')];
  fs.writeFileSync(path.join(outside, 'precious'), 'x');
  fs.mkdirSync(point, { recursive: true });
  fs.writeFileSync(path.join(tree, 'a', 'file'), 'x');
  bindMount(outside, point);
  try {
    assert.equal((await measureTree(tree, limits)).inodes, 3);
    await assert.rejects(removeTree(tree), { code: /EXDEV|EBUSY/ });
    assert.equal(fs.readFileSync(path.join(outside, 'precious'), 'utf8'), 'x');
    assert.equal(fs.existsSync(path.join(tree, 'a', 'file')), false);
  } finally {
    execFileSync('umount', [path.join(tree, fs.readdirSync(tree)[0] ?? '', 'point')]);
  }
  await removeTree(tree);
  assert.equal(fs.existsSync(tree), false);
});

test('at once, nothing is removed while something is mounted there, also where a link leads to it', () => {
  const [outside, point, link] = [path.join(own, 'outside'), path.join(tree, 'a b'), path.join(own, 'link')];
  fs.writeFileSync(path.join(outside, 'precious'), 'x');
  fs.mkdirSync(point);
  fs.symlinkSync(own, link);
  bindMount(outside, point);
  try {
    for (const name of [tree, path.join(link, 'tree')])
      assert.throws(() => removeTreeSync(name), { code: 'EBUSY', message: /a b/ });
    assert.equal(fs.existsSync(path.join(outside, 'precious')), true);
  } finally {
    unmount(point);
  }
  removeTreeSync(tree);
  assert.equal(fs.existsSync(tree), false);
});

test('names that are no UTF-8, pipes and sockets are removed; hard links count once', async () => {
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe, 0x80])]), 'x');
  fs.mkdirSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xc3])]));
  execFileSync('mkfifo', [path.join(tree, 'fifo')]);
  fs.writeFileSync(path.join(tree, 'one'), 'x');
  fs.linkSync(path.join(tree, 'one'), path.join(tree, 'two'));
  assert.equal((await measureTree(tree, limits)).inodes, 4);
  await removeTree(tree);
  assert.equal(fs.existsSync(tree), false);
});

test('what is not there is fine, a file is removed, and a signal ends the work', async () => {
  await removeTree(path.join(own, 'nothing'));
  assert.deepEqual(await measureTree(path.join(own, 'nothing'), limits), {
    bytes: 0,
    inodes: 0,
    isWhole: true,
  });
  fs.writeFileSync(path.join(tree, 'file'), 'x');
  await assert.rejects(removeTree(tree, { signal: AbortSignal.abort(new Error('enough')) }), {
    message: 'enough',
  });
  await removeTree(path.join(tree, 'file'));
  assert.deepEqual(fs.readdirSync(tree), []);
  await removeTree(tree);
});

test('many files do not keep the event loop from its other work', async () => {
  for (let i = 0; i < 3000; i++) fs.writeFileSync(path.join(tree, `file-${i}`), '');
  let turns = 0;
  const turn = (): void => void (turns++, (next = setImmediate(turn)));
  let next = setImmediate(turn);
  assert.equal((await measureTree(tree, limits)).inodes, 3000);
  await removeTree(tree);
  clearImmediate(next);
  assert.equal(turns > 300, true, `the loop went round ${turns} times`);
});
