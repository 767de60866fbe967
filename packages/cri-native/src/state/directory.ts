/**
 * The state directory: one directory for each sandbox and container. A sandbox's record is `record.PHASE`, so that going on
 * to the next phase is one rename. Where there is no record there is nothing but files, which may be deleted at any time.
 */
import fs from 'node:fs';
import path from 'node:path';
import { CriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { hasCode, lockFile, removeTree } from '@podwire/linux';
import { replaceFileSync } from '@podwire/platform';
import { isAlive } from '../native/alive.js';
import type { Clock, Log } from '../options.js';
import {
  type ContainerRecord,
  formatContainer,
  formatSandbox,
  parseContainer,
  parseSandbox,
  type Phase,
  phases,
  type SandboxRecord,
} from './record.js';

export const sandboxDirectory = (root: string, id: string): string => path.join(root, 'sandboxes', id);
export const containerDirectory = (root: string, id: string): string => path.join(root, 'containers', id);

const LOCK_MILLISECONDS = 2_000;
const LOCK_STEP_MILLISECONDS = 10;

/**
 * Makes the directory, and locks it for this process. A process that was killed while it started another one leaves a
 * child that has not got rid of the lock yet; it is waited for.
 * @returns what gives it free again @throws CriError FAILED_PRECONDITION when another process has it
 */
export async function openStateDirectory(root: string, clock: Clock): Promise<() => void> {
  for (const name of ['sandboxes', 'containers'])
    fs.mkdirSync(path.join(root, name), { recursive: true, mode: 0o700 });
  const fd = fs.openSync(path.join(root, 'lock'), 'a', 0o600);
  try {
    await lockWithin(fd, clock);
  } catch (cause) {
    fs.closeSync(fd);
    throw new CriError('FAILED_PRECONDITION', `another process uses ${root}`, { cause });
  }
  return () => fs.closeSync(fd);
}

async function lockWithin(fd: number, clock: Clock): Promise<void> {
  const { signal } = new AbortController();
  for (const deadline = clock.elapsed() + LOCK_MILLISECONDS; ;) {
    try {
      lockFile(fd);
      return;
    } catch (error) {
      if (!hasCode(error, 'EAGAIN') || clock.elapsed() > deadline) throw error;
      await clock.sleep(LOCK_STEP_MILLISECONDS, signal);
    }
  }
}

/** Not flushed: after a reboot nothing of it exists any more, and what the kernel still has is looked for. */
const writeRecord = (file: string, text: string): void => replaceFileSync(file, text, { mode: 0o600 });

const recordFile = (directory: string, phase: Phase): string => path.join(directory, `record.${phase}`);

export function writeSandbox(root: string, record: SandboxRecord): void {
  const directory = sandboxDirectory(root, record.id);
  fs.mkdirSync(directory, { mode: 0o700 });
  writeRecord(recordFile(directory, 'creating'), formatSandbox(record));
}

export function advanceSandbox(root: string, id: string, from: Phase, to: Phase): void {
  const directory = sandboxDirectory(root, id);
  fs.renameSync(recordFile(directory, from), recordFile(directory, to));
}

/** From here on it is rubbish, whatever of it still lies there. */
export function forgetSandbox(root: string, id: string, phase: Phase): void {
  fs.rmSync(recordFile(sandboxDirectory(root, id), phase), { force: true });
}

export function writeContainer(root: string, record: ContainerRecord): void {
  const directory = containerDirectory(root, record.id);
  fs.mkdirSync(directory, { mode: 0o700 });
  writeRecord(path.join(directory, 'record'), formatContainer(record));
}

export function forgetContainer(root: string, id: string): void {
  fs.rmSync(path.join(containerDirectory(root, id), 'record'), { force: true });
}

const DELETE_MILLISECONDS = 60_000;

/** Of what is forgotten already: where it cannot be deleted it is rubbish that the next start tries to delete again. */
export async function deleteDirectory(directory: string, log: Log): Promise<void> {
  try {
    await removeTree(directory, { signal: AbortSignal.timeout(DELETE_MILLISECONDS) });
  } catch (error) {
    log.warn({ directory, why: describeError(error) }, 'could not delete a directory, will retry');
  }
}

export interface StoredSandbox {
  readonly record: SandboxRecord;
  readonly phase: Phase;
}

/** The content of the state directory: usable records, and directories that are none. */
export interface Found<T> {
  readonly whole: readonly T[];
  readonly rubbish: readonly string[];
  /** Of another version, or damaged while its process lives: nothing is guessed, and the others go on. */
  readonly unusable: readonly Unusable[];
}

export interface Unusable {
  readonly id: string;
  readonly why: string;
  /** The sandbox of a container, if that can be read. */
  readonly sandboxId: string;
}

function readAll<T>(parent: string, read: (directory: string) => T | undefined): Found<T> {
  const found = { whole: [] as T[], rubbish: [] as string[], unusable: [] as Unusable[] };
  for (const name of fs.readdirSync(parent)) {
    const directory = path.join(parent, name);
    try {
      const one = read(directory);
      if (one === undefined) found.rubbish.push(directory);
      else found.whole.push(one);
    } catch (error) {
      if (isTorn(error, directory)) found.rubbish.push(directory);
      else found.unusable.push({ id: name, why: describeError(error), sandboxId: sandboxOf(directory) });
    }
  }
  return found;
}

/**
 * A power loss may leave a record empty or in part, since it is not flushed. Then no process holds the directory any
 * more, and what belonged to it is gone with that boot.
 */
const isTorn = (error: unknown, directory: string): boolean =>
  error instanceof SyntaxError && !isAlive(directory);

function sandboxOf(directory: string): string {
  try {
    const stored = JSON.parse(readText(path.join(directory, 'record')) ?? '') as {
      sandboxId?: unknown;
    } | null;
    return typeof stored?.sandboxId === 'string' ? stored.sandboxId : '';
  } catch {
    return '';
  }
}

/** However it stands there: from now on it is one that is only to be stopped and removed. */
export function retireSandbox(root: string, id: string): void {
  const directory = sandboxDirectory(root, id);
  const phase = phases.find((each) => fs.existsSync(recordFile(directory, each)));
  if (phase !== undefined) advanceSandbox(root, id, phase, 'stopping');
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

export function readSandboxes(root: string): Found<StoredSandbox> {
  return readAll(path.join(root, 'sandboxes'), (directory) => {
    for (const phase of phases) {
      const text = readText(recordFile(directory, phase));
      if (text !== undefined) return { record: parseSandbox(text), phase };
    }
    return undefined;
  });
}

export function readContainers(root: string): Found<ContainerRecord> {
  return readAll(path.join(root, 'containers'), (directory) => {
    const text = readText(path.join(directory, 'record'));
    return text === undefined ? undefined : parseContainer(text);
  });
}
