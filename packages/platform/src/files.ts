/** Files that are replaced as a whole: after a crash there is the old content or the new one. */
import nodeFsSync from 'node:fs';
import nodeFs from 'node:fs/promises';
import path from 'node:path';
import { orUndefined } from './outcome.js';

/** Whether an error carries one of these codes of the operating system (`ENOENT`). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(error.code as string);
}

/** The part of `node:fs` that is needed; tests pass one that fails like a full disk. */
export interface SyncFiles {
  writeFileSync(file: string, data: string | Uint8Array, options: { readonly mode?: number }): void;
  renameSync(from: string, to: string): void;
}

export interface ReplaceOptions {
  /** Of the new file; that of the process by default. */
  readonly mode?: number;
}

/** Writes `FILE.new` and renames it. It is not flushed to the disk: for files that end with the boot. */
export function replaceFileSync(
  file: string,
  data: string | Uint8Array,
  options: ReplaceOptions & { readonly fs?: SyncFiles } = {},
): void {
  const { fs = nodeFsSync, mode } = options;
  fs.writeFileSync(`${file}.new`, data, mode === undefined ? {} : { mode });
  fs.renameSync(`${file}.new`, file);
}

export type AsyncFiles = Pick<typeof nodeFs, 'open' | 'rename' | 'unlink'>;

export interface AsyncReplaceOptions extends ReplaceOptions {
  /** Whether the file survives a power failure once this has resolved; false by default. */
  readonly durable?: boolean;
  /** Looks at the complete new file before the rename; a rejection leaves the old one. */
  readonly verify?: ((temporary: string) => Promise<void>) | undefined;
  readonly fs?: AsyncFiles;
}

let counter = 0;

/** As {@link replaceFileSync}; several calls for one file may overlap. The temporary name begins with a dot and does not grow. */
export async function replaceFile(
  file: string,
  data: string | Uint8Array,
  { mode, durable = false, verify, fs = nodeFs }: AsyncReplaceOptions = {},
): Promise<void> {
  const directory = path.dirname(file);
  const temporary = path.join(directory, `.${process.pid}.${counter++}.tmp`);
  try {
    await writeNew(fs, temporary, data, mode, durable);
    await verify?.(temporary);
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.unlink(temporary).catch(() => undefined);
    throw error;
  }
  // Otherwise a power failure may undo the rename.
  if (durable) await syncPath(fs, directory);
}

async function writeNew(
  fs: AsyncFiles,
  file: string,
  data: string | Uint8Array,
  mode: number | undefined,
  durable: boolean,
): Promise<void> {
  const handle = await fs.open(file, 'w', mode);
  try {
    await handle.writeFile(data);
    if (durable) await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncPath(fs: AsyncFiles, directory: string): Promise<void> {
  const handle = await fs.open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The value; undefined if the work fails since a file is missing. @throws any other error */
export function ifExists<T>(work: Promise<T>): Promise<T | undefined> {
  return orUndefined(work, (error) => hasCode(error, 'ENOENT'));
}

/** The text of a file; undefined if there is none. */
export function readIfExists(
  file: string,
  fs: Pick<typeof nodeFs, 'readFile'> = nodeFs,
): Promise<string | undefined> {
  return ifExists(fs.readFile(file, 'utf8'));
}

/** As {@link readIfExists}. */
export function readIfExistsSync(
  file: string,
  fs: { readFileSync(file: string, encoding: 'utf8'): string } = nodeFsSync,
): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
