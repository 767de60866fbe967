/**
 * Files to and from containers, as a tar stream through exec, which is kubectl's way: the container needs a `tar`. What comes out of a
 * container is not trusted: it may be any stream of bytes.
 */
import fs from 'node:fs';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PodwireError } from '@podwire/errors';
import { create, type ReadEntry } from 'tar';
import { explainStartFailure } from './exec-failure.js';
import { fullName } from './names.js';
import { type ContainerPlace, type EndedProgram, runInContainer } from './run-in-container.js';
import { createUnpacker } from './unpack.js';

export interface Copy {
  readonly place: ContainerPlace;
  /** In the container. */
  readonly remote: string;
  /** On this machine. */
  readonly local: string;
  readonly signal: AbortSignal;
  /** Told of what is left out. */
  readonly warn: (message: string) => void;
}

/** A container that never ends its stream must not fill the disk for ever. */
const mostBytes = 64 * 2 ** 30;
const mostEntries = 1_000_000;

/** Where it is put: in a directory that there is, or under the name itself, as cp(1) does. */
export async function copyFromContainer(copy: Copy): Promise<void> {
  const { local, remote } = copy;
  const [directory, name] = splitPath(remote);
  const target = isDirectory(local) && name !== '.' ? path.join(local, name) : path.resolve(local);
  const parent = path.dirname(target);
  if (!isDirectory(parent)) throw new PodwireError('REQUEST_INVALID', `${parent} is no directory`);
  // Beside its place, so that half a copy is not taken for all of it, and a rename is enough.
  const draft = fs.mkdtempSync(path.join(parent, '.podwire-cp-'));
  try {
    await receive(copy, ['tar', '-cf', '-', '-C', directory, '--', name], draft);
    const received = path.join(draft, name);
    if (!fs.existsSync(received)) throw new PodwireError('REQUEST_INVALID', `${remote}: nothing was copied`);
    place(received, target);
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

/** A file that is there is overwritten, and a directory gets the new entries. */
function place(received: string, target: string): void {
  if (fs.existsSync(target))
    fs.cpSync(received, target, { recursive: true, force: true, verbatimSymlinks: true });
  else fs.renameSync(received, target);
}

async function receive(
  { place: from, signal, warn }: Copy,
  argv: string[],
  directory: string,
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const stream = new PassThrough();
  const unpack = createUnpacker({
    cwd: directory,
    preserveOwner: false,
    filter: createFilter(warn),
    onwarn: createWarner(warn),
  });
  const unpacked = pipeline(stream, unpack, { signal }).catch((error: unknown) => {
    over.abort(error);
    throw error;
  });
  // Heard below; until then it must not count as unheard.
  unpacked.catch(() => undefined);
  try {
    const ended = await runInContainer(from, argv, { stdout: stream, signal: either });
    stream.end();
    // Its words say more than those of what could not read its output.
    const problem = await unpacked.then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    checkEnd(from, ended);
    if (problem !== undefined) throw problem;
  } catch (error) {
    stream.destroy();
    if (error instanceof PodwireError) throw error;
    throw over.signal.aborted ? describeUnpacking(from, over.signal.reason) : describe(from, error);
  }
}

/**
 * Files and directories only. A link in the stream could lead what follows it out of the directory; paths that are absolute or go
 * upwards are refused by the library. No file becomes one that runs as its owner.
 */
function createFilter(
  warn: (message: string) => void,
): (name: string, entry: fs.Stats | ReadEntry) => boolean {
  let count = 0;
  let bytes = 0;
  return (name, entry) => {
    if (!('header' in entry)) return false;
    count += 1;
    if (count > mostEntries) throw new PodwireError('REQUEST_INVALID', `more than ${mostEntries} files`);
    // The size that will be written, not the size received: the library unpacks a compressed stream unasked.
    bytes += entry.size;
    if (bytes > mostBytes) throw new PodwireError('REQUEST_INVALID', `more than ${mostBytes} bytes`);
    if (entry.mode !== undefined) entry.mode &= 0o777;
    const isWanted = ['File', 'OldFile', 'ContiguousFile', 'Directory', 'GNUDumpDir'].includes(entry.type);
    if (!isWanted) warn(`left out: ${name} is no file and no directory (${entry.type})`);
    return isWanted;
  };
}

/** The library warns of each entry that it leaves out, also of a file that this machine cannot take, such as on a full disk. */
function createWarner(
  warn: (message: string) => void,
): (code: string, message: string, data: object) => void {
  return (_code, message, data) => {
    if ('errno' in data) throw new PodwireError('REQUEST_INVALID', `a file cannot be written: ${message}`);
    warn(message);
  };
}

/** Into a directory that there is, or under the name itself. Links are copied as links. */
export async function copyToContainer(copy: Copy): Promise<void> {
  const { place: to, local, remote, signal } = copy;
  const source = path.resolve(local);
  if (!fs.existsSync(source)) throw new PodwireError('REQUEST_INVALID', `${local} does not exist`);
  const base = path.basename(source);
  const isInto = await isDirectoryInside(copy);
  const [directory, name] = isInto ? [remote, base] : splitPath(remote);
  const pack = create(
    {
      cwd: path.dirname(source),
      portable: true,
      // The name in the container may be another one.
      onWriteEntry: (entry) => {
        entry.path = `./${name}${entry.path.slice(base.length)}`;
      },
    },
    [base],
  );
  const stdin = new PassThrough();
  pack.on('error', (error) => stdin.destroy(error as Error));
  pack.on('data', (chunk: Buffer) => {
    if (!stdin.write(chunk)) pack.pause();
  });
  stdin.on('drain', () => pack.resume());
  pack.on('end', () => stdin.end());
  const argv = ['tar', '-xf', '-', '-C', directory];
  try {
    checkEnd(to, await runInContainer(to, argv, { stdin, stdout: nowhere(), signal }));
  } catch (error) {
    throw describe(to, error);
  } finally {
    stdin.destroy();
  }
}

async function isDirectoryInside({ place: at, remote, signal }: Copy): Promise<boolean> {
  try {
    const { exitCode } = await runInContainer(at, ['test', '-d', remote], { stdout: nowhere(), signal });
    return exitCode === 0;
  } catch (error) {
    // Without `test` there is the path itself to go by.
    if (explainStartFailure(error) !== undefined) return remote.endsWith('/');
    throw error;
  }
}

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

const isDirectory = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;

/** Directory and name; of `/` itself all that is in it. */
function splitPath(remote: string): [string, string] {
  const whole = path.posix.normalize(remote).replace(/(.)\/$/, '$1');
  return whole === '/' || whole === '.'
    ? [whole, '.']
    : [path.posix.dirname(whole), path.posix.basename(whole)];
}

/** @throws PodwireError with the words of tar */
function checkEnd({ pod }: ContainerPlace, { exitCode, stderr }: EndedProgram): void {
  if (exitCode === 0) return;
  const words = stderr.trim() === '' ? `exit code ${exitCode}` : stderr.trim();
  throw new PodwireError('REQUEST_INVALID', `tar in pod ${fullName(pod)}: ${words}`);
}

function describeUnpacking({ pod }: ContainerPlace, cause: unknown): PodwireError {
  if (cause instanceof PodwireError) return cause;
  return new PodwireError('REQUEST_INVALID', `what tar in pod ${fullName(pod)} wrote could not be unpacked`, {
    cause,
  });
}

function describe({ pod }: ContainerPlace, error: unknown): unknown {
  if (explainStartFailure(error) === undefined) return error;
  const message = `there is no tar in the container of pod ${fullName(pod)}, and cp needs one`;
  return new PodwireError('REQUEST_INVALID', message, { cause: error });
}
