/** Files that are replaced as a whole: after a crash there is the old content or the new one. */
import nodeFsSync from 'node:fs';
import nodeFs from 'node:fs/promises';
import path from 'node:path';
import { orUndefined } from './outcome.js';

/** Reports if an error carries one of these codes of the operating system (`ENOENT`). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(error.code as string);
}

export interface ReplaceOptions {
  /** Of the new file, whatever the umask is; that of the process by default. */
  readonly mode?: number;
}

export interface SyncReplaceOptions extends ReplaceOptions {
  /** True if a power failure shall leave the old content or the new one; by default it may also leave half a file. */
  readonly flush?: boolean;
}

/** Writes `.NAME.new` beside it, which readers of a directory skip, and renames it. */
export function replaceFileSync(
  file: string,
  data: string | Uint8Array,
  { mode, flush = false }: SyncReplaceOptions = {},
): void {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  // A file that a killed process left would keep its mode.
  nodeFsSync.rmSync(temporary, { force: true });
  nodeFsSync.writeFileSync(temporary, data, { flush, ...(mode !== undefined && { mode }) });
  if (isForOthers(mode)) nodeFsSync.chmodSync(temporary, mode);
  nodeFsSync.renameSync(temporary, file);
}

/** A service's umask (0077) would take rights of group and others away. */
const isForOthers = (mode: number | undefined): mode is number => mode !== undefined && (mode & 0o077) !== 0;

export type AsyncFiles = Pick<typeof nodeFs, 'open' | 'rename' | 'unlink'>;

export interface AsyncReplaceOptions extends ReplaceOptions {
  /** True if the file shall survive a power failure once this has resolved; false by default. */
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
  if (durable) await syncDirectory(directory, fs);
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
    if (isForOthers(mode)) await handle.chmod(mode);
    if (durable) await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Flushes names to the disk: files that were made, renamed or removed. */
export async function syncDirectory(directory: string, fs: Pick<AsyncFiles, 'open'> = nodeFs): Promise<void> {
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
export function readIfExistsSync(file: string): string | undefined {
  try {
    return nodeFsSync.readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
