/** Objects of a node alone: the YAML files of a directory. People edit them, and `podwire apply` writes them. */
import { type FSWatcher, watch as watchFiles } from 'node:fs';
import fs from 'node:fs/promises';
import { hasCode, Notify, onAbort, replaceFile, type Clock } from '@podwire/platform';
import {
  type AnyObject,
  type ListOptions,
  type ObjectBatch,
  type ObjectListing,
  type ObjectReference,
  type ObjectSource,
  type ObjectWatchOptions,
  type Origin,
  referenceKey,
  referenceOf,
  type Revision,
  type Saved,
  type SaveOptions,
  type SourceCallOptions,
  type StoredObject,
} from '../contract.js';
import { formatObjectProblem } from '../reading/read-objects.js';
import { compareListings } from './directory/changes.js';
import { chooseFile, formatObjects } from './directory/file-text.js';
import {
  emptyFolder,
  type Folder,
  listFolder,
  type ObjectFile,
  readFile,
  readFolder,
  revisionOf,
} from './directory/folder.js';
import { LastGood } from './directory/last-good.js';
import { isEqual } from './equal.js';
import { invalid, requireExpected, requireValid } from './failures.js';
import { selects } from './selects.js';
import { withStatusOf } from './status.js';
import { mayBeUsed, requireUnused } from './users.js';

export interface DirectorySourceOptions {
  /** It need not exist: the first object makes it. */
  readonly directory: string;
  readonly clock: Clock;
  /** Locks an open file for this process without waiting, as flock(2): `lockFile` of `@podwire/linux`. @throws EAGAIN */
  readonly lock: (fd: number) => void;
  /**
   * A watch keeps copies of good files beside them, for its next start with a file that is broken. True by default;
   * false for programs that only look.
   */
  readonly keepLastGood?: boolean;
  /** Milliseconds between two looks when nothing is heard; 20,000. */
  readonly pollEvery?: number;
}

/** Milliseconds. A writer holds the lock for a few. */
const lockPatience = 10_000;
const lockPause = 5;
const defaultPoll = 20_000;
/** Where inotify cannot be had, milliseconds. */
const deafPoll = 500;

export const createDirectorySource = (options: DirectorySourceOptions): ObjectSource =>
  new DirectorySource(options);

class DirectorySource implements ObjectSource {
  readonly name: string;
  readonly #options: DirectorySourceOptions;
  #folder: Folder = emptyFolder;

  constructor(options: DirectorySourceOptions) {
    this.name = `directory ${options.directory}`;
    this.#options = options;
  }

  async get(
    reference: ObjectReference,
    { signal }: SourceCallOptions = {},
  ): Promise<StoredObject | undefined> {
    const { objects, unreadable } = await this.#look(signal);
    const key = referenceKey(reference);
    const bad = unreadable.find((each) => referenceKey(each.reference) === key);
    if (bad !== undefined) throw invalid(key, bad.problems.map(formatObjectProblem).join('; '));
    return objects.find(({ object }) => referenceKey(referenceOf(object)) === key);
  }

  async list(options: ListOptions = {}): Promise<ObjectListing> {
    const { objects, unreadable, revision } = await this.#look(options.signal);
    return {
      objects: objects.filter(({ object }) => selects(options, referenceOf(object))),
      unreadable: unreadable.filter(({ reference }) => selects(options, reference)),
      revision,
    };
  }

  async #look(signal: AbortSignal | undefined): Promise<ObjectListing> {
    this.#folder = await readFolder(this.#options.directory, this.#folder, signal);
    return listFolder(this.#folder);
  }

  async save(object: AnyObject, _origin: Origin | undefined, options: SaveOptions = {}): Promise<Saved> {
    const checked = requireValid(object);
    const reference = referenceOf(checked);
    return this.#locked(options.signal, async () => {
      const found = await this.#find(reference);
      requireExpected(reference, options.expect, found?.stored.revision);
      const valid = withStatusOf(checked, found?.stored.object);
      if (found !== undefined && isEqual(found.stored.object, valid))
        return { outcome: 'unchanged', revision: found.stored.revision };
      const outcome = found === undefined ? 'created' : 'configured';
      if (options.dryRun === true) return { outcome, revision: found?.stored.revision ?? 0 };
      return { outcome, revision: await this.#write(reference, found?.file, valid) };
    });
  }

  async delete(
    reference: ObjectReference,
    options: Omit<SaveOptions, 'expect'> & { readonly expect?: Revision } = {},
  ): Promise<{ readonly deleted: boolean; readonly revision: Revision }> {
    return this.#locked(options.signal, async () => {
      const found = await this.#find(reference);
      requireExpected(reference, options.expect, found?.stored.revision);
      if (found === undefined) return { deleted: false, revision: 0 };
      if (mayBeUsed(reference))
        requireUnused(
          reference,
          listFolder(this.#folder).objects.map(({ object }) => object),
        );
      if (options.dryRun === true) return { deleted: true, revision: found.stored.revision };
      return { deleted: true, revision: await this.#write(reference, found.file, undefined) };
    });
  }

  /** Under the lock. Only what may have changed is looked at, so that ten thousand objects can be saved one by one. */
  async #find(
    reference: ObjectReference,
  ): Promise<{ readonly file: ObjectFile; readonly stored: StoredObject } | undefined> {
    const { directory } = this.#options;
    const key = referenceKey(reference);
    if ((await revisionOf(directory)) !== this.#folder.ownRevision)
      this.#folder = await readFolder(directory, this.#folder);
    const file = this.#fileOf(key);
    if (file === undefined) return undefined;
    const now = await readFile(file.path, file);
    if (now !== file) this.#folder = await readFolder(directory, this.#folder);
    const current = this.#folder.files.get(file.path);
    if (current === undefined) return undefined;
    if (current.problems.length > 0)
      throw invalid(key, `its file cannot be read: ${current.problems.map(formatObjectProblem).join('; ')}`);
    const stored = current.objects.find(({ object }) => referenceKey(referenceOf(object)) === key);
    return stored === undefined ? undefined : { file: current, stored };
  }

  #fileOf(key: string): ObjectFile | undefined {
    this.#index ??= { folder: emptyFolder, byKey: new Map() };
    if (this.#index.folder !== this.#folder)
      this.#index = { folder: this.#folder, byKey: indexFiles(this.#folder) };
    const file = this.#index.byKey.get(key);
    return file === undefined ? undefined : this.#folder.files.get(file);
  }

  #index: { folder: Folder; readonly byKey: Map<string, string> } | undefined;

  /** Replaces the object in its file, or takes it out; its file's other objects stay. @returns the new revision */
  async #write(
    reference: ObjectReference,
    file: ObjectFile | undefined,
    object: AnyObject | undefined,
  ): Promise<Revision> {
    const key = referenceKey(reference);
    const { files } = this.#folder;
    const target = file?.path ?? chooseFile(this.#options.directory, reference, (each) => files.has(each));
    const others = (file?.objects ?? []).map((each) => each.object);
    const position = others.findIndex((each) => referenceKey(referenceOf(each)) === key);
    const added = object === undefined ? [] : [object];
    const all = position < 0 ? [...others, ...added] : others.toSpliced(position, 1, ...added);
    const revision =
      all.length === 0 ? await this.#remove(target) : await this.#replace(target, formatObjects(target, all));
    await this.#remember(target, key, object !== undefined, revision);
    return revision;
  }

  /** The time is set before the file has its name: who has seen this revision has seen the file. */
  async #replace(file: string, text: string): Promise<Revision> {
    let revision = 0;
    await replaceFile(file, text, {
      durable: true,
      mode: 0o644,
      verify: async (temporary) => {
        revision = await this.#stamp(temporary);
      },
    });
    return revision;
  }

  async #remove(file: string): Promise<Revision> {
    const { directory } = this.#options;
    await fs.unlink(file);
    const revision = await this.#stamp(directory);
    const handle = await fs.open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    return revision;
  }

  /** Later than everything that is there. Half a microsecond is lost on the way, so two are added. */
  async #stamp(target: string): Promise<Revision> {
    const { directory, clock } = this.#options;
    const latest = Math.max(clock.now() * 1000, await revisionOf(directory), this.#folder.revision);
    const seconds = (Math.floor(latest) + 2) / 1e6;
    await fs.utimes(target, seconds, seconds);
    return revisionOf(target);
  }

  /** Without a look at all other files: the lock has kept other writers away. */
  async #remember(file: string, key: string, isThere: boolean, revision: Revision): Promise<void> {
    const files = this.#folder.files as Map<string, ObjectFile>;
    const now = await readFile(file, undefined);
    if (now === undefined) files.delete(file);
    else files.set(file, now);
    const ownRevision = await revisionOf(this.#options.directory);
    this.#folder = { files, ownRevision, revision: Math.max(revision, ownRevision) };
    if (this.#index === undefined) return;
    this.#index.folder = this.#folder;
    if (isThere) this.#index.byKey.set(key, file);
    else this.#index.byKey.delete(key);
  }

  async #locked<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const { directory } = this.#options;
    await fs.mkdir(directory, { recursive: true });
    const handle = await fs.open(directory, 'r');
    try {
      await this.#waitForLock(handle.fd, signal);
      return await work();
    } finally {
      // The lock goes with it.
      await handle.close();
    }
  }

  async #waitForLock(fd: number, signal = new AbortController().signal): Promise<void> {
    const { clock, lock, directory } = this.#options;
    for (const end = clock.elapsed() + lockPatience; ;) {
      try {
        lock(fd);
        return;
      } catch (error) {
        if (!hasCode(error, 'EAGAIN', 'EWOULDBLOCK')) throw error;
        if (clock.elapsed() > end)
          throw invalid(directory, 'another writer has had it locked for ten seconds', error);
        await clock.sleep(lockPause, signal);
      }
    }
  }

  async *watch({ signal, onInterruption }: ObjectWatchOptions): AsyncIterable<ObjectBatch> {
    const { directory, clock, pollEvery = defaultPoll, keepLastGood = true } = this.#options;
    const lastGood = keepLastGood ? new LastGood(directory) : undefined;
    const change = new Notify();
    const ears = new Ears(directory, change.notify);
    const unsubscribe = onAbort(signal, change.notify);
    let folder = emptyFolder;
    let told: ObjectListing | undefined;
    let isInterrupted = false;
    try {
      while (!signal.aborted) {
        const isHeard = ears.open();
        try {
          folder = await readFolder(directory, folder, signal, lastGood?.load);
          if (isInterrupted) onInterruption?.(undefined);
          isInterrupted = false;
          const now = listFolder(folder);
          if (told === undefined) yield { type: 'snapshot', ...now };
          else if (now.revision > told.revision || compareListings(told, now).length > 0)
            yield { type: 'changes', changes: compareListings(told, now), revision: now.revision };
          told = now;
          // Afterwards: no policy waits for the disk. A directory that cannot be written has no memory.
          await lastGood?.keep(folder).catch(() => undefined);
        } catch (error) {
          if (signal.aborted) break;
          if (!isInterrupted) onInterruption?.(error);
          isInterrupted = true;
        }
        await change.notifiedWithin(isHeard && !isInterrupted ? pollEvery : deafPoll, clock, signal);
      }
    } finally {
      unsubscribe();
      ears.close();
    }
  }
}

function indexFiles({ files }: Folder): Map<string, string> {
  const index = new Map<string, string>();
  for (const file of files.values()) {
    const references = [
      ...file.objects.map(({ object }) => referenceOf(object)),
      ...file.refused.map(({ reference }) => reference),
      ...(file.problems.length > 0 ? file.lastGood : []),
    ];
    for (const reference of references) {
      const key = referenceKey(reference);
      if (!index.has(key)) index.set(key, file.path);
    }
  }
  return index;
}

/** inotify of the directory, opened again when the directory has come, or was replaced by another. */
class Ears {
  readonly #directory: string;
  readonly #onEvent: () => void;
  #watcher: FSWatcher | undefined;

  constructor(directory: string, onEvent: () => void) {
    this.#directory = directory;
    this.#onEvent = onEvent;
  }

  /** @returns whether changes are heard */
  open(): boolean {
    if (this.#watcher !== undefined) return true;
    try {
      const watcher = watchFiles(this.#directory, { persistent: false });
      watcher.on('change', (event, name) => {
        // A directory that is moved or deleted reports its own name: the next look opens what is there then.
        if (event === 'rename' && String(name) === this.#directory.split('/').at(-1)) this.close();
        this.#onEvent();
      });
      watcher.on('error', () => this.close());
      this.#watcher = watcher;
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
