/** The directory and what is in it. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { type Database as Table, open, type RootDatabase } from 'lmdb';
import type { LeaseId, Revision } from '../contract.js';
import { unavailable } from '../failures.js';

/** Raised when what is stored changes its shape. */
const format = 1;

/** Text, revision, lease. */
export type StoredItem = readonly [value: string, revision: Revision, lease?: LeaseId];

/** A deletion has no value. */
export type StoredChange = readonly [key: string, value?: string, lease?: LeaseId];

export interface State {
  readonly format: number;
  /** Of the machine: leases are of its clock, and of processes that have ended with it. */
  readonly boot: string;
  readonly revision: Revision;
  /** The log begins after this revision. */
  readonly forgotten: Revision;
  /** Characters in the log. */
  readonly logged: number;
  /** Characters of all items and their keys. */
  readonly stored: number;
  /** Leases so far. */
  readonly granted: number;
}

export interface Database {
  readonly root: RootDatabase;
  readonly items: Table<StoredItem, string>;
  readonly log: Table<readonly StoredChange[], number>;
  readonly leases: Table<readonly [ttl: number, deadline: number], LeaseId>;
  /** Leases by when they end. */
  readonly due: Table<true, [deadline: number, lease: LeaseId]>;
  /** Keys of each lease. */
  readonly bound: Table<true, [lease: LeaseId, key: string]>;
  readonly meta: Table<State, 'state'>;
  /** Written to with every change: who watches it learns of changes of other processes. */
  readonly changeFile: string;
}

/** @throws PodwireError CONFIG_INVALID; what LMDB and the file system throw (see {@link translate}) */
export function openDatabase(directory: string, create: boolean): Database {
  const changeFile = path.join(directory, 'changed');
  if (!create) requireStore(directory, changeFile);
  prepareDirectory(directory, changeFile);
  // Overlapping commits resolve before they are on the disk; the map grows by itself from where it begins.
  const root = open({
    path: directory,
    maxDbs: 8,
    maxReaders: 1024,
    mapSize: 64 * 1024 * 1024,
    overlappingSync: false,
    encoding: 'json',
  });
  const table = <V, K extends Parameters<Table['get']>[0]>(name: string): Table<V, K> =>
    root.openDB<V, K>({ name, encoding: 'json' });
  return {
    root,
    items: table('items'),
    log: table('log'),
    leases: table('leases'),
    due: table('due'),
    bound: table('bound'),
    meta: table('meta'),
    changeFile,
  };
}

/** The state now; inside a write transaction, that of the transaction. */
export function readState({ meta }: Database): State {
  const state = meta.get('state');
  if (state === undefined) throw unavailable('the store has lost its state');
  return state;
}

/** Gives a new store its state. @throws PodwireError OBJECT_TOO_NEW */
export function checkFormat({ root, meta }: Database, directory: string, boot: string): void {
  root.transactionSync(() => {
    const state = meta.get('state');
    if (state === undefined)
      meta.putSync('state', { format, boot, revision: 0, forgotten: 0, logged: 0, stored: 0, granted: 0 });
    else if (state.format !== format)
      throw new PodwireError(
        'OBJECT_TOO_NEW',
        `the store in ${directory} has format ${state.format}; this version reads ${format}`,
      );
  });
}

function requireStore(directory: string, changeFile: string): void {
  if (fs.statSync(changeFile, { throwIfNoEntry: false }) !== undefined) return;
  throw new PodwireError('CONFIG_INVALID', `there is no store in ${directory}`, {
    details: { field: 'directory', path: directory },
  });
}

function prepareDirectory(directory: string, changeFile: string): void {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const names = fs.readdirSync(directory);
  // A directory that was named by mistake keeps its permissions.
  if (names.length > 0 && !names.includes(path.basename(changeFile)))
    throw new PodwireError('CONFIG_INVALID', `${directory} is not empty and no store`, {
      details: { field: 'directory', path: directory },
    });
  if ((fs.statSync(directory).mode & 0o077) !== 0) fs.chmodSync(directory, 0o700);
  fs.closeSync(fs.openSync(changeFile, 'a', 0o600));
}

/**
 * Translates errors of LMDB and the file system into those of the interface.
 * @param isWrite a commit that failed half-way may be on the disk
 */
export function translate(error: unknown, directory: string, isWrite = false): Error {
  if (error instanceof PodwireError) return error;
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  const says = (pattern: RegExp): boolean => pattern.test(`${String(code)} ${message}`);
  // LMDB makes an input/output error of a write that was cut short.
  const full = says(/ENOSPC|EDQUOT|MDB_MAP_FULL|No space left|quota exceeded/i) || isFull(directory);
  if (full)
    return new PodwireError('STORE_FULL', `the disk of ${directory} is full`, {
      cause: error,
      action: 'Free space there. Nodes go on with the blocks they have.',
    });
  if (says(/EACCES|EPERM|EROFS|Permission denied|not permitted|Read-only file system/))
    return new PodwireError('STORE_DENIED', `${directory} cannot be used`, {
      cause: error,
      action: 'Check the permissions of the directory.',
    });
  return unavailable(`the store in ${directory} does not work`, { uncertain: isWrite, cause: error });
}

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize, blocks } = fs.statfsSync(directory);
    return blocks > 0 && bavail * bsize < 256 * 1024;
  } catch {
    return false;
  }
}
