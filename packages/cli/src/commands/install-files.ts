/** Files and folders as the installer leaves them: whole or not at all, and still so after a power failure. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { ifExists, syncDirectory } from '@podwire/platform';

export type ChangeAction = 'created' | 'replaced' | 'unchanged' | 'removed' | 'absent' | 'kept';

/** Result for one file or folder. */
export interface FileChange {
  readonly path: string;
  readonly action: ChangeAction;
}

/** Lies in a folder that the installer made; names the outermost folder it had to make for it. */
const FOLDER_MARK = '.podwire-created';

/** `undefined` where there is no such file. */
export const readIfExists = (file: string): Promise<Buffer | undefined> => ifExists(fs.readFile(file));

/**
 * A name that no runtime loads: CNI looks for `.conf`, `.conflist`, `.json`, and for plugins by their exact name. The
 * plugin's has no suffix, by which Node would choose how to load a script.
 */
const temporaryName = (file: string): string =>
  path.join(path.dirname(file), `${temporaryPrefix(file)}${process.pid}`);
const temporaryPrefix = (file: string): string => `.${path.basename(file)}-new-`;

async function writeDurably(file: string, content: Buffer, mode: number): Promise<void> {
  const handle = await fs.open(file, 'w', mode);
  try {
    await handle.writeFile(content);
    // The umask of the caller must not take the runtime's right to read and run it.
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export interface InstallOptions {
  readonly mode: number;
  /** Looks at the complete new file before it takes its place; throws to leave everything as it was. */
  readonly verify?: (temporary: string) => Promise<void>;
}

/**
 * Puts `content` at `file` at once: readers see the old file or the new one. A program that is just running keeps its
 * old file. Nothing is written when the file is this already.
 */
export async function installFile(
  file: string,
  content: Buffer,
  { mode, verify }: InstallOptions,
): Promise<FileChange> {
  const before = await readIfExists(file);
  if (before?.equals(content) && (await hasMode(file, mode))) return { path: file, action: 'unchanged' };
  const temporary = temporaryName(file);
  try {
    await writeDurably(temporary, content, mode);
    await verify?.(temporary);
    await fs.rename(temporary, file);
  } finally {
    await fs.rm(temporary, { force: true });
  }
  await syncDirectory(path.dirname(file));
  return { path: file, action: before === undefined ? 'created' : 'replaced' };
}

/** False for a link as well: what it points to may go or change. */
async function hasMode(file: string, mode: number): Promise<boolean> {
  const stat = await fs.lstat(file);
  return stat.isFile() && (stat.mode & 0o7777) === mode;
}

/** Makes a folder and those above it where they are missing, and marks it for {@link removeMadeFolder}. */
export async function ensureFolder(folder: string): Promise<FileChange> {
  const outermost = await fs.mkdir(folder, { recursive: true, mode: 0o755 });
  if (outermost === undefined) return { path: folder, action: 'unchanged' };
  await fs.writeFile(path.join(folder, FOLDER_MARK), outermost);
  return { path: folder, action: 'created' };
}

/** Removes a folder that {@link ensureFolder} made, and those it made above it, as far as they are empty. */
export async function removeMadeFolder(folder: string): Promise<FileChange[]> {
  const mark = path.join(folder, FOLDER_MARK);
  const outermost = (await readIfExists(mark))?.toString();
  if (outermost === undefined) return [];
  await fs.rm(mark, { force: true });
  const removed: FileChange[] = [];
  for (let each = folder; each === outermost || each.startsWith(`${outermost}/`); each = path.dirname(each)) {
    if (!(await removeEmpty(each))) break;
    removed.push({ path: each, action: 'removed' });
  }
  return removed;
}

async function removeEmpty(folder: string): Promise<boolean> {
  return fs.rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

export async function removeFile(file: string): Promise<FileChange> {
  await fs.unlink(file);
  await syncDirectory(path.dirname(file));
  return { path: file, action: 'removed' };
}

/** Removes what an installer that was killed left beside `file`: its temporary files, of processes that are no more. */
export async function removeLeftovers(file: string): Promise<void> {
  const folder = path.dirname(file);
  const prefix = temporaryPrefix(file);
  for (const name of await fs.readdir(folder).catch(() => [])) {
    const pid = name.startsWith(prefix) && /^\d+$/.exec(name.slice(prefix.length))?.[0];
    if (pid && !(await isRunning(pid))) await fs.rm(path.join(folder, name), { force: true });
  }
}

const isRunning = (pid: string): Promise<boolean> =>
  fs.access(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
