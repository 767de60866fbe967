#!/usr/bin/env node
/**
 * Runs tests where this machine cannot help them: in a clone below `/tmp`, with an empty `/run` and an empty home.
 *
 *   node scripts/test/new-machine.mjs [--machine new|used] [FILE…]
 *   node scripts/test/new-machine.mjs --package
 *
 * The unit tests run as a user without rights and without a build, on a copy of this machine's files from which all state
 * of Podwire is gone (`new`), and on one where there is state that only root may read (`used`). FILE is any part of a
 * test file's path. `--package` runs the test of the packages, as root and with this checkout's build. Needs root and
 * `npm ci`. The clone has what is committed, and changes of files that are in git.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { machines } from './machines.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const unprivileged = '65534:65534';
/** Where the clone is on the machine. */
const clone = '/tmp/podwire';
const PATH = `${path.dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

class NewMachineError extends Error {}

/** Runs a program to its end and shows what it writes. @throws NewMachineError */
function run(program, ...parameters) {
  const { status, signal, error } = spawnSync(program, parameters, {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status === 0) return;
  const why = error?.message ?? (signal === null ? `exit code ${status}` : signal);
  throw new NewMachineError(`${[program, ...parameters].join(' ')}: ${why}`);
}

function read(program, ...parameters) {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new NewMachineError(`${program}: ${error?.message ?? stderr}`);
  return stdout.split('\0').filter((text) => text !== '');
}

/** A clone with the changes that are not committed yet: what is tested is what one sees. */
function cloneCheckout(target) {
  run('git', 'clone', '--quiet', root, target);
  const changed = read('git', 'diff', '--name-only', '--diff-filter=d', '-z', 'HEAD');
  for (const file of changed) {
    fs.mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    fs.copyFileSync(path.join(root, file), path.join(target, file));
  }
  for (const file of read('git', 'diff', '--name-only', '--diff-filter=D', '-z', 'HEAD'))
    fs.rmSync(path.join(target, file), { force: true });
}

/** As `npm ci` leaves it: without what earlier runs have put there. */
function copyModules(target) {
  const modules = path.join(target, 'node_modules');
  run('cp', '-a', '--reflink=auto', path.join(root, 'node_modules'), modules);
  for (const cache of ['.experimental-vitest-cache', '.vite', '.vite-temp'])
    fs.rmSync(path.join(modules, cache), { recursive: true, force: true });
}

/** Folders below `temporary`: `tmp`, which has the clone and the home, and those that the copy of the machine needs. */
function prepare(temporary) {
  const tmp = path.join(temporary, 'tmp');
  for (const name of ['tmp/home', 'layers', 'machine'])
    fs.mkdirSync(path.join(temporary, name), { recursive: true });
  const target = path.join(temporary, clone);
  cloneCheckout(target);
  copyModules(target);
  run('chown', '-R', unprivileged, tmp);
  fs.chmodSync(tmp, 0o1777);
}

/** An overlay over this machine's files: what is changed there is in memory. */
function mountCopy(layers, machine) {
  run('mount', '-t', 'tmpfs', 'tmpfs', layers);
  for (const name of ['upper', 'work']) fs.mkdirSync(path.join(layers, name));
  const options = `lowerdir=/,upperdir=${layers}/upper,workdir=${layers}/work`;
  run('mount', '-t', 'overlay', 'overlay', '-o', options, machine);
}

/** Mounts the folders that every machine has of its own, or of this one. */
function mountFolders(temporary, machine) {
  const at = (folder) => path.join(machine, folder);
  for (const folder of ['proc', 'dev', 'sys']) run('mount', '--rbind', `/${folder}`, at(folder));
  run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', at('run'));
  run('mount', '--bind', path.join(temporary, 'tmp'), at('tmp'));
}

/**
 * Makes it the root of this mount namespace; what was the root is then at `/mnt`. After a mere chroot, tests that enter the
 * namespace would be outside.
 */
function enterMachine(machine) {
  process.chdir(machine);
  run('pivot_root', '.', 'mnt');
  process.chdir('/');
}

/** Nothing of this environment is there, and the folder of the clone is where it is run. */
const runInClone = (user, home, ...argv) =>
  run(
    ...['chroot', `--userspec=${user}`, '/', 'env', `--chdir=${clone}`],
    ...['-i', `PATH=${PATH}`, `HOME=${home}`, 'NO_COLOR=1', ...argv],
  );

/** Files and folders that a build has left in this checkout. */
const findBuild = () =>
  read('git', 'ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory').filter(
    (name) => !/(^|\/)node_modules\//.test(name),
  );

/** In the mount namespace of this process, which ends with it. */
function runUnitTests(temporary, kind, files) {
  const [layers, machine] = ['layers', 'machine'].map((name) => path.join(temporary, name));
  mountCopy(layers, machine);
  mountFolders(temporary, machine);
  machines[kind](machine);
  enterMachine(machine);
  runInClone(unprivileged, '/tmp/home', 'npm', 'run', 'test:unit', '--', ...files);
}

/**
 * The test makes an overlay over the machine, and containers there have one each: a third one the kernel refuses. So these
 * are this machine's files themselves, and nothing of them is taken away.
 */
function runPackageTest(temporary) {
  const built = findBuild();
  const machine = path.join(temporary, 'machine');
  run('mount', '--bind', '/', machine);
  mountFolders(temporary, machine);
  enterMachine(machine);
  for (const name of built)
    run('cp', '-a', '--no-target-directory', path.join('/mnt', root, name), path.join(clone, name));
  run('chown', '-R', '0:0', clone);
  const test = ['--test', 'packages/cli/dist/test/package.system.test.js'];
  runInClone('0:0', '/tmp/home', process.execPath, ...test);
}

function readOptions() {
  const { values, positionals: files } = parseArgs({
    options: { machine: { type: 'string' }, package: { type: 'boolean' }, inside: { type: 'string' } },
    allowPositionals: true,
  });
  const known = Object.keys(machines);
  if (values.machine !== undefined && !known.includes(values.machine))
    throw new NewMachineError(`--machine knows ${known.join(' and ')}, not ${values.machine}`);
  if (process.getuid() !== 0) throw new NewMachineError('a mount namespace needs root');
  return { ...values, files };
}

/** Each machine is a process of its own in a mount namespace of its own. */
function startMachine(title, options) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-new-machine-'));
  fs.chmodSync(temporary, 0o755);
  try {
    console.log(`\n… ${title}`);
    prepare(temporary);
    const self = [process.execPath, import.meta.filename, '--inside', temporary, ...options];
    run('unshare', '--mount', '--propagation', 'private', '--', ...self);
    console.log(`✓ ${title}`);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

function runAll() {
  const { inside, machine, package: ofPackage, files } = readOptions();
  if (inside !== undefined) return ofPackage ? runPackageTest(inside) : runUnitTests(inside, machine, files);
  if (ofPackage) return startMachine('the packages of a checkout below /tmp', ['--package']);
  for (const kind of machine === undefined ? Object.keys(machines) : [machine])
    startMachine(`a ${kind} machine`, ['--machine', kind, ...files]);
}

try {
  runAll();
} catch (error) {
  if (!(error instanceof NewMachineError) && !error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(`✗ ${error.message}`);
  process.exitCode = 1;
}
