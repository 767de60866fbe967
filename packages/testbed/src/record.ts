/** Record of everything that a testbed creates, written before it is created: for later commands and for the teardown. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { hasCode, lockFile, markProcess, type ProcessMark } from '@podwire/linux';
import { parentDirectory, type Paths, pathsBelow } from './paths.js';
import type { PodPort } from './pod-spec.js';
import type { Shape } from './shape.js';
import { replaceFileSync } from '@podwire/platform';

export interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly containerId: string;
  /** Policy selects it by them. Absent in records of version 0.1.0. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports?: readonly PodPort[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** A pod that comes again under its name has another one. Absent in records of version 0.1.0. */
  readonly uid?: string;
  /** Empty until its ADD has succeeded. */
  readonly addresses: readonly string[];
}

export interface TestbedRecord {
  readonly version: 1;
  readonly name: string;
  readonly shape: Shape;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The creating process; the testbed outlives it. */
  readonly owner: ProcessMark;
  readonly phase: 'coming up' | 'up' | 'going down';
  /** Files that pin network namespaces. */
  readonly namespaces: readonly string[];
  /** At most one of each `what`. */
  readonly processes: readonly ProcessMark[];
  readonly pods: readonly PodRecord[];
}

/**
 * A record on disk. Other processes may write it too: each update starts from the file's content, under a lock. An error of
 * `change` changes nothing.
 */
export interface OpenRecord {
  readonly paths: Paths;
  readonly current: TestbedRecord;
  update(change: (before: TestbedRecord) => Partial<TestbedRecord>): void;
}

/**
 * Begins a testbed: its directory (0700) appears atomically, with the first record in it.
 * @throws PodwireError TESTBED_FAILED when there is one of this name
 */
export function createRecord(name: string, shape: Shape, now: number): OpenRecord {
  const directory = path.join(parentDirectory, name);
  const draft = path.join(parentDirectory, `.${name}.${process.pid}`);
  fs.mkdirSync(draft, { recursive: true, mode: 0o700 });
  const first: TestbedRecord = {
    version: 1,
    ...{ name, shape, createdAt: now, phase: 'coming up' as const, namespaces: [], processes: [], pods: [] },
    owner: markProcess('podwire testbed', process.pid),
  };
  writeRecord(pathsBelow(draft).record, first);
  try {
    fs.renameSync(draft, directory);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    throw new PodwireError('TESTBED_FAILED', `the testbed ${name} already exists`);
  }
  return openRecord(pathsBelow(directory), first);
}

export function openRecord(paths: Paths, start: TestbedRecord): OpenRecord {
  let current = start;
  return {
    paths,
    get current() {
      return current;
    },
    update(change) {
      current = withRecordLock(paths, () => {
        const before = readRecord(paths) ?? current;
        const next = { ...before, ...change(before) };
        writeRecord(paths.record, next);
        return next;
      });
    },
  };
}

/** Milliseconds; an update takes less than one. */
const lockDeadline = 10_000;
const lockPause = 2;

/** @throws PodwireError TESTBED_FAILED when another process has it for too long */
function withRecordLock<T>({ lock }: Paths, work: () => T): T {
  const fd = fs.openSync(lock, 'a', 0o600);
  try {
    waitForLock(fd, lock);
    return work();
  } finally {
    fs.closeSync(fd);
  }
}

function waitForLock(fd: number, file: string): void {
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (const end = performance.now() + lockDeadline; ;) {
    try {
      return lockFile(fd);
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) throw error;
      if (performance.now() > end)
        throw new PodwireError('TESTBED_FAILED', `another process holds ${file}`, { cause: error });
    }
    Atomics.wait(still, 0, 0, lockPause);
  }
}

function writeRecord(file: string, record: TestbedRecord): void {
  replaceFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

/** @returns undefined when there is none or it is unreadable */
export function readRecord({ record }: Paths): TestbedRecord | undefined {
  try {
    return JSON.parse(fs.readFileSync(record, 'utf8')) as TestbedRecord;
  } catch {
    return undefined;
  }
}

/** All testbeds of this machine, incomplete ones included. */
export function listTestbeds(): string[] {
  const all = listDirectories();
  return [...new Set(all.map((each) => (each.startsWith('.') ? deadDraft(each) : each)))].filter(
    (name) => name !== undefined,
  );
}

/** Directories of this testbed whose creation did not finish. */
export function draftsOf(name: string): string[] {
  return listDirectories()
    .filter((each) => each.startsWith('.') && deadDraft(each) === name)
    .map((each) => path.join(parentDirectory, each));
}

/** NAME of `.NAME.PID`; undefined while that process lives. */
function deadDraft(entry: string): string | undefined {
  const [, name, pid] = /^\.(.+)\.(\d+)$/.exec(entry) ?? [];
  return fs.existsSync(`/proc/${pid}`) ? undefined : name;
}

function listDirectories(): string[] {
  try {
    return fs.readdirSync(parentDirectory).toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    if (hasCode(error, 'EACCES'))
      throw new PodwireError('PRIVILEGE_MISSING', 'there are testbeds, and only root can look at them');
    throw error;
  }
}
