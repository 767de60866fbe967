/**
 * A directory of YAML files as it is now: each file read once for each of its versions. A revision is a time of modification in
 * microseconds, so that all programs that read the directory agree on it without a file of their own.
 */
import type { BigIntStats } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { ifExists, orUndefined } from '@podwire/platform';
import {
  type ObjectListing,
  type ObjectProblem,
  type ObjectReference,
  referenceKey,
  referenceOf,
  type Revision,
  type StoredObject,
  type UnreadableObject,
} from '../../contract.js';
import { type ObjectText, readObjects, type RefusedObject } from '../../reading/read-objects.js';

/** More is no directory of objects: it is not read. */
export const mostFiles = 100_000;
/** Open at the same time. */
export const atOnce = 32;

export interface ObjectFile {
  readonly path: string;
  readonly revision: Revision;
  /** Tells versions of the file apart: inode, size, times. */
  readonly stamp: string;
  readonly objects: readonly StoredObject[];
  readonly problems: readonly ObjectProblem[];
  readonly refused: readonly RefusedObject[];
  /** Objects in the file when it could last be read: they stay in force. */
  readonly lastGood: readonly ObjectReference[];
}

export interface Folder {
  /** By path, in their order. */
  readonly files: ReadonlyMap<string, ObjectFile>;
  /** Of the latest change of a file or of the directory. */
  readonly revision: Revision;
  /** Of the directory alone: it changes when files come and go. */
  readonly ownRevision: Revision;
}

export const emptyFolder: Folder = { files: new Map(), revision: 0, ownRevision: 0 };

const isObjectFile = (name: string): boolean => /^[^.].*\.(?:ya?ml|json)$/.test(name);

/** Only files that are new or changed are read. A directory that does not exist is empty. */
export async function readFolder(
  directory: string,
  before: Folder,
  signal?: AbortSignal,
  loadGood?: LoadGood,
): Promise<Folder> {
  signal?.throwIfAborted();
  // First: what comes later is in the list, or has a later time.
  const ownRevision = await revisionOf(directory);
  const names = ((await ifExists(fs.readdir(directory))) ?? []).filter(isObjectFile).toSorted();
  if (names.length > mostFiles) throw new Error(`${directory} has more than ${mostFiles} files`);
  const files = new Map<string, ObjectFile>();
  for (let start = 0; start < names.length; start += atOnce) {
    signal?.throwIfAborted();
    const paths = names.slice(start, start + atOnce).map((name) => path.join(directory, name));
    const read = await Promise.all(paths.map((each) => readFile(each, before.files.get(each), loadGood)));
    for (const file of read) if (file !== undefined) files.set(file.path, file);
  }
  const known = [...files.values()].reduce((latest, file) => Math.max(latest, file.revision), ownRevision);
  // A clock that was set back must not take revisions back.
  return { files, ownRevision, revision: Math.max(known, before.revision) };
}

/** Zero where there is nothing. */
export async function revisionOf(file: string): Promise<Revision> {
  const found = await ifExists(fs.stat(file, { bigint: true }));
  return found === undefined ? 0 : Number(found.mtimeNs / 1000n);
}

/** Loads the text of a file when it could last be read, from before this program began. */
export type LoadGood = (file: string) => Promise<string | undefined>;

/** Which version of a file is there; undefined: none. */
export async function stampOf(
  file: string,
): Promise<{ readonly stamp: string; readonly times: BigIntStats } | undefined> {
  const found = await ifExists(fs.stat(file, { bigint: true }));
  if (found?.isFile() !== true) return undefined;
  return { stamp: [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(), times: found };
}

/** Undefined: there is no such file. */
export async function readFile(
  file: string,
  before: ObjectFile | undefined,
  loadGood?: LoadGood,
): Promise<ObjectFile | undefined> {
  const found = await stampOf(file);
  if (found === undefined) return undefined;
  const { stamp, times } = found;
  if (before?.stamp === stamp) return before;
  const text = await orUndefined(fs.readFile(file, 'utf8'), () => true);
  const revision = Number(times.mtimeNs / 1000n);
  const created = Number(times.birthtimeMs > 0n ? times.birthtimeMs : times.mtimeMs);
  const base = { path: file, revision, stamp };
  const read = text === undefined ? unreadableFile(file) : readObjects(text, file, { keepStatus: true });
  const old = read.problems.length > 0 && before === undefined ? await loadGood?.(file) : undefined;
  const { objects } = old === undefined ? read : readObjects(old, file, { keepStatus: true });
  const stored = objects.map(({ object, origin }) => ({ object, origin, revision, created }));
  const good = stored.map(({ object }) => referenceOf(object));
  const isKnown = read.problems.length === 0 || before === undefined;
  const { problems, refused } = read;
  return { ...base, objects: stored, problems, refused, lastGood: isKnown ? good : before.lastGood };
}

const unreadableFile = (file: string): ObjectText => ({
  objects: [],
  problems: [{ file, line: 1, message: 'cannot be read' }],
  refused: [],
});

/** All objects of the directory. One that stands in two files counts in the first. */
export function listFolder({ files, revision }: Folder): ObjectListing {
  const objects = new Map<string, StoredObject>();
  const unreadable = new Map<string, UnreadableObject>();
  for (const file of files.values()) {
    for (const stored of file.objects) {
      const key = referenceKey(referenceOf(stored.object));
      const first = objects.get(key);
      if (first === undefined) objects.set(key, stored);
      else unreadable.set(`${file.path} ${key}`, describeDouble(file, stored, first));
    }
    for (const each of unreadableOf(file)) unreadable.set(referenceKey(each.reference), each);
  }
  const isDefined = (each: UnreadableObject): boolean => !objects.has(referenceKey(each.reference));
  return { objects: [...objects.values()], unreadable: [...unreadable.values()].filter(isDefined), revision };
}

const describeDouble = (
  file: ObjectFile,
  { object }: StoredObject,
  first: StoredObject,
): UnreadableObject => ({
  reference: { apiVersion: 'v1', kind: 'File', name: path.basename(file.path) },
  revision: file.revision,
  problems: [
    {
      file: file.path,
      line: 1,
      message: `${referenceKey(referenceOf(object))} stands in ${first.origin?.file ?? 'another file'} already, and counts there`,
    },
  ],
});

/** A file is taken as a whole: with one wrong object in it, all of them keep what they were. */
function unreadableOf({
  path: file,
  objects,
  problems,
  refused,
  lastGood,
  revision,
}: ObjectFile): UnreadableObject[] {
  if (problems.length === 0) return [];
  const contents = new Map(refused.map((each) => [referenceKey(each.reference), each]));
  const old = lastGood.filter((reference) => !contents.has(referenceKey(reference)));
  const all = [...contents.values(), ...old.map((reference) => ({ reference, content: undefined }))];
  const itself = {
    reference: { apiVersion: 'v1', kind: 'File', name: path.basename(file) },
    content: undefined,
  };
  // Of a file whose objects are those of earlier, only the file itself can be told as unreadable.
  const told = objects.length > 0 ? [...all, itself] : all.length === 0 ? [itself] : all;
  return told.map(({ reference, content }) => ({
    reference,
    revision,
    problems,
    ...(content !== undefined && { content }),
  }));
}
