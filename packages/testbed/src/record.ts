/** What a testbed has made, written down before it is made: for those who look at it later, and for its end. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { hasCode, markProcess, type ProcessMark } from '@podwire/linux';
import { parentDirectory, type Places, placesBelow } from './places.js';
import type { Shape } from './shape.js';

export interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly containerId: string;
  /** Empty until its ADD has succeeded. */
  readonly addresses: readonly string[];
}

export interface TestbedRecord {
  readonly version: 1;
  readonly name: string;
  readonly shape: Shape;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Who makes it; it may go on without. */
  readonly owner: ProcessMark;
  readonly phase: 'coming up' | 'up' | 'going down';
  /** Files that pin network namespaces. */
  readonly namespaces: readonly string[];
  /** By `what`, one of each. */
  readonly processes: readonly ProcessMark[];
  readonly pods: readonly PodRecord[];
}

/** A record that is kept on disk while it changes. Others may write it in between: a change begins with what is there. */
export interface OpenRecord {
  readonly places: Places;
  readonly current: TestbedRecord;
  update(change: (before: TestbedRecord) => Partial<TestbedRecord>): void;
}

/**
 * Begins a testbed: its directory (0700) with the first page appears at once, whole.
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
  writeRecord(placesBelow(draft).record, first);
  try {
    fs.renameSync(draft, directory);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    throw new PodwireError('TESTBED_FAILED', `there is a testbed ${name} already`);
  }
  return openRecord(placesBelow(directory), first);
}

export function openRecord(places: Places, start: TestbedRecord): OpenRecord {
  let current = start;
  return {
    places,
    get current() {
      return current;
    },
    update(change) {
      const before = readRecord(places) ?? current;
      const next = { ...before, ...change(before) };
      writeRecord(places.record, next);
      current = next;
    },
  };
}

function writeRecord(file: string, record: TestbedRecord): void {
  fs.writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
}

/** @returns undefined when there is none, or none that can be read */
export function readRecord({ record }: Places): TestbedRecord | undefined {
  try {
    return JSON.parse(fs.readFileSync(record, 'utf8')) as TestbedRecord;
  } catch {
    return undefined;
  }
}

/** The testbeds of this machine: whole ones, broken ones, and those whose maker was killed before there was anything. */
export function listTestbeds(): string[] {
  const all = listDirectories();
  return [...new Set(all.map((each) => (each.startsWith('.') ? deadDraft(each) : each)))].filter(
    (name) => name !== undefined,
  );
}

/** Directories of this testbed that were never finished. */
export function draftsOf(name: string): string[] {
  return listDirectories()
    .filter((each) => each.startsWith('.') && deadDraft(each) === name)
    .map((each) => path.join(parentDirectory, each));
}

/** Of `.NAME.PID`, the name; undefined while its maker lives. */
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
