/**
 * The files that network namespaces are pinned to. In the directory of `ip netns` its rules hold: the directory is a shared
 * mount before anything is mounted in it. The first `ip netns add` on a machine makes it one by mounting the directory on
 * itself; pins that were there before lie covered from then on, and their files cannot be deleted (EBUSY).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hasCode } from '@podwire/platform';
import { SystemError } from './errno.js';
import { bindMount, bindMountTree, lockFile, setPropagation, unmountLazily } from './libc.js';

/** The system calls that this file makes. */
export interface PinCalls {
  readonly setPropagation: typeof setPropagation;
  readonly bindMountTree: typeof bindMountTree;
  readonly bindMount: typeof bindMount;
  readonly unmountLazily: typeof unmountLazily;
  readonly makeFile: (file: string) => void;
  readonly unlink: (file: string) => void;
}

const kernel: PinCalls = {
  ...{ setPropagation, bindMountTree, bindMount, unmountLazily },
  makeFile: (file) => fs.closeSync(fs.openSync(file, 'wx', 0o444)),
  unlink: (file) => fs.unlinkSync(file),
};

/**
 * Makes the file and lets `pin` mount a namespace on it; without a mount the file goes again.
 * @throws SystemError; `EEXIST` when the file is there
 */
export function makePin(
  file: string,
  pin: (mount: (source: string) => void) => void,
  calls: PinCalls = kernel,
): void {
  const directory = path.dirname(file);
  fs.mkdirSync(directory, { recursive: true });
  if (isIpNetnsDirectory(directory)) shareDirectory(directory, calls);
  calls.makeFile(file);
  try {
    pin((source) => calls.bindMount(source, file));
  } catch (error) {
    fs.rmSync(file, { force: true });
    throw error;
  }
}

/** Other programs mount nothing on other directories; those need no mount of their own, which would outlive us. */
const isIpNetnsDirectory = (directory: string): boolean =>
  fs.realpathSync(directory) === `${fs.realpathSync('/run')}/netns`;

/** The first step finds it done on all but the first call on a machine. */
function shareDirectory(directory: string, calls: PinCalls): void {
  if (tryShare(directory, calls)) return;
  const lock = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    waitForLock(lock);
    if (tryShare(directory, calls)) return;
    calls.bindMountTree(directory, directory);
    calls.setPropagation(directory, 'shared');
  } finally {
    fs.closeSync(lock);
  }
}

/** False when it is no mount point. */
function tryShare(directory: string, calls: PinCalls): boolean {
  try {
    calls.setPropagation(directory, 'shared');
    return true;
  } catch (error) {
    if (hasCode(error, 'EINVAL')) return false;
    throw error;
  }
}

const LOCK_TRIES = 100;
const LOCK_STEP_MILLISECONDS = 10;

/**
 * The lock that iproute2 takes since 5.10, so that two programs do not mount the directory twice (Debian bug 949235). Any
 * user may open the directory and keep it locked; so it is waited for a second at most, and two mounts do no harm.
 */
function waitForLock(fd: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    try {
      return lockFile(fd);
    } catch (error) {
      if (!hasCode(error, 'EAGAIN', 'EWOULDBLOCK')) throw error;
      Atomics.wait(never, 0, 0, LOCK_STEP_MILLISECONDS);
    }
  }
}

/**
 * Unmounts and deletes the file; a missing one is no error.
 * @throws SystemError `EINVAL` when the file is no pin, `EBUSY` when it is mounted where this process does not reach it
 */
export function deletePin(file: string, calls: PinCalls = kernel): void {
  for (let tries = 0; tries < 3; tries++) {
    unmountAll(file, calls);
    if (!isPinFile(file)) return;
    if (tryUnlink(file, calls)) return;
  }
  unlinkCovered(file);
}

/** More than one where two programs have pinned a namespace to it, or mounted the directory twice. */
function unmountAll(file: string, calls: PinCalls): void {
  try {
    for (let count = 0; count < 100; count++) calls.unmountLazily(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EINVAL')) throw error;
  }
}

/** False when there is none. @throws SystemError `EINVAL` */
function isPinFile(file: string): boolean {
  const left = fs.lstatSync(file, { throwIfNoEntry: false });
  if (left === undefined) return false;
  // Underneath lies the empty file that it was pinned to.
  if (left.isFile() && left.size === 0) return true;
  throw new SystemError('unlink', os.constants.errno.EINVAL, `${file} is not a pinned namespace`);
}

function tryUnlink(file: string, calls: PinCalls): boolean {
  try {
    calls.unlink(file);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    if (hasCode(error, 'EBUSY')) return false;
    throw error;
  }
}

const UNLINK_MILLISECONDS = 10_000;

/** A pin of an older Podwire that another program has covered. Only a process in another mount namespace can delete it. */
function unlinkCovered(file: string): void {
  const script = path.join(import.meta.dirname, 'unlink-covered.js');
  const { status, stderr } = spawnSync(process.execPath, [script, file], {
    ...{ env: {}, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
    ...{ timeout: UNLINK_MILLISECONDS, killSignal: 'SIGKILL' },
  });
  if (status === 0) return;
  const why = `${file} is covered by another mount and cannot be deleted: ${stderr.trim() || 'no answer'}`;
  throw new SystemError('unlink', os.constants.errno.EBUSY, why);
}
