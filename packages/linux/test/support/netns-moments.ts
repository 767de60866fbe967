/**
 * Run in a mount namespace of its own, where /run and /mnt are its own: pins and unpins a namespace, and at every moment between
 * another program adds a namespace with `ip netns`. Its last line says how many moments there were.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { bindMount, createNamespace, lockFile, mountsBelow, mountTmpfs, openNamespace } from '@podwire/linux';
import { bindMountTree, setPropagation, unmountLazily } from '../../src/libc.js';
import { deletePin, makePin, type PinCalls } from '../../src/namespace-pins.js';

const directory = '/run/netns';
const file = `${directory}/ours`;
const theirs = `${directory}/theirs`;
const source = '/mnt/namespace';
const running: Promise<unknown>[] = [];

/** iproute2 before 5.10: it takes no lock, and so does not wait for us. */
function addAsBefore(): void {
  fs.mkdirSync(directory, { recursive: true });
  try {
    setPropagation(directory, 'shared');
  } catch {
    bindMountTree(directory, directory);
    setPropagation(directory, 'shared');
  }
  execFileSync('unshare', [`--net=${makeFile(theirs)}`, 'true']);
}

function makeFile(name: string): string {
  fs.closeSync(fs.openSync(name, 'wx'));
  return name;
}

/** One that is covered can be deleted too, but only by a process of its own. */
function unlinkAtOnce(name: string): void {
  assert.doesNotThrow(() => fs.unlinkSync(name));
}

/** While we have its lock it waits for us, so that we cannot wait for it. */
function add(): void {
  const args = ['netns', 'add', 'theirs'];
  if (isLocked()) running.push(once(spawn('ip', args, { stdio: 'inherit' }), 'exit'));
  else execFileSync('ip', args);
}

function isLocked(): boolean {
  if (!fs.existsSync(directory)) return false;
  const fd = fs.openSync(directory, 'r');
  try {
    lockFile(fd);
    return false;
  } catch {
    return true;
  } finally {
    fs.closeSync(fd);
  }
}

/** The real calls; before the one with this number `meanwhile` happens. */
function callsWith(moment: number, meanwhile: () => void): { calls: PinCalls; count: () => number } {
  let count = 0;
  const after =
    <A extends unknown[]>(call: (...args: A) => void) =>
    (...args: A): void => {
      if (count++ === moment) meanwhile();
      call(...args);
    };
  const calls: PinCalls = {
    setPropagation: after(setPropagation),
    bindMountTree: after(bindMountTree),
    bindMount: after(bindMount),
    unmountLazily: after(unmountLazily),
    makeFile: after(makeFile),
    unlink: after(unlinkAtOnce),
  };
  return { calls, count: () => count };
}

/** The machine's own pins are listed, too: they lie below our /run. */
function mounted(): Set<string> {
  const paths = mountsBelow(directory).map((mount) => mount.path);
  return new Set(paths.filter((each) => [file, theirs].includes(each)));
}

/** @returns whether there was such a moment */
async function tryMoment(run: 'shared' | 'private', moment: number, meanwhile: () => void): Promise<boolean> {
  mountTmpfs('/run');
  setPropagation('/run', run);
  const { calls, count } = callsWith(moment, meanwhile);
  makePin(file, (mount) => mount(source), calls);
  const inode = fs.statSync(source).ino;
  assert.equal(fs.statSync(file).ino, inode, 'what we have pinned is there');
  openNamespace(file).close();
  deletePin(file, calls);
  await Promise.all(running.splice(0));
  const happened = count() > moment;
  assert.deepEqual(fs.readdirSync(directory), happened ? ['theirs'] : []);
  assert.deepEqual(mounted(), new Set(happened ? [theirs] : []));
  if (happened) {
    openNamespace(theirs).close();
    execFileSync('ip', ['netns', 'delete', 'theirs']);
  }
  assert.deepEqual(fs.readdirSync(directory), []);
  assert.deepEqual(mounted(), new Set());
  unmountLazily('/run');
  return happened;
}

mountTmpfs('/mnt');
createNamespace(source);
let moments = 0;
for (const run of ['private', 'shared'] as const)
  for (const meanwhile of [add, addAsBefore])
    for (let moment = 0; await tryMoment(run, moment, meanwhile); moment++) moments++;
process.stdout.write(`${moments} moments\n`);
