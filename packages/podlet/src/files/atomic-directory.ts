/**
 * A directory whose files all change in one moment, as the kubelet keeps ConfigMaps: the files lie in a directory
 * `..<random>`, `..data` is a link to it, and the names that people see are links through `..data`. Renaming another
 * link over `..data` is the moment.
 */
import { hasCode, removeTree } from '@podwire/linux';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ProjectedFile } from './config-map.js';
import { setDirectoryRights, setFileRights } from './ownership.js';

const dataName = '..data';
const nextName = '..data_next';

/** Idempotent: where everything is as wanted, nothing is touched. @param group the pod's fsGroup */
export async function writeAtomicDirectory(
  directory: string,
  files: readonly ProjectedFile[],
  group?: number,
): Promise<void> {
  await fs.mkdir(directory, { recursive: true, mode: 0o755 });
  if (!(await isCurrent(directory, files, group))) {
    await setDirectoryRights(directory, 0o755, group);
    await switchTo(directory, await writeFiles(directory, files, group));
  }
  await linkNames(directory, files);
  await removeLeftovers(directory);
}

async function writeFiles(
  directory: string,
  files: readonly ProjectedFile[],
  group: number | undefined,
): Promise<string> {
  const data = await fs.mkdtemp(`${directory}/..`);
  try {
    await setDirectoryRights(data, 0o755, group);
    for (const file of files) await writeFile(data, file, group);
    return data;
  } catch (error) {
    // On a full disk every attempt would leave one more.
    await fs.rm(data, { recursive: true, force: true });
    throw error;
  }
}

async function writeFile(
  data: string,
  { path: name, content, mode }: ProjectedFile,
  group: number | undefined,
): Promise<void> {
  const file = path.join(data, name);
  await makeParents(data, path.dirname(name), group);
  await fs.writeFile(file, content, { flag: 'wx' });
  await setFileRights(file, mode, group);
}

async function makeParents(data: string, parent: string, group: number | undefined): Promise<void> {
  if (parent === '.') return;
  await makeParents(data, path.dirname(parent), group);
  await fs.mkdir(path.join(data, parent), { recursive: true });
  await setDirectoryRights(path.join(data, parent), 0o755, group);
}

async function switchTo(directory: string, data: string): Promise<void> {
  const next = path.join(directory, nextName);
  await fs.rm(next, { force: true });
  await fs.symlink(path.basename(data), next);
  await fs.rename(next, path.join(directory, dataName));
}

function topNames(files: readonly ProjectedFile[]): Set<string> {
  return new Set(files.map((file) => file.path.split('/')[0]!));
}

async function linkNames(directory: string, files: readonly ProjectedFile[]): Promise<void> {
  const wanted = topNames(files);
  const present = (await fs.readdir(directory)).filter((name) => !name.startsWith('..'));
  for (const name of wanted) {
    if (!present.includes(name)) await fs.symlink(path.join(dataName, name), path.join(directory, name));
  }
  for (const name of present) {
    if (!wanted.has(name)) await removeTree(path.join(directory, name));
  }
}

/** Of the version before, and of a writer that was killed. */
async function removeLeftovers(directory: string): Promise<void> {
  const current = await fs.readlink(path.join(directory, dataName));
  const leftovers = (await fs.readdir(directory)).filter(
    (name) => name.startsWith('..') && name !== dataName && name !== current,
  );
  for (const name of leftovers) await removeTree(path.join(directory, name));
}

async function isCurrent(
  directory: string,
  files: readonly ProjectedFile[],
  group: number | undefined,
): Promise<boolean> {
  const data = path.join(directory, dataName);
  if ((await countFiles(data)) !== files.length) return false;
  for (const file of files) if (!(await isSame(path.join(data, file.path), file, group))) return false;
  return true;
}

async function countFiles(data: string): Promise<number | undefined> {
  try {
    const entries = await fs.readdir(`${data}/`, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).length;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function isSame(file: string, wanted: ProjectedFile, group: number | undefined): Promise<boolean> {
  try {
    const stats = await fs.stat(file);
    const mode = group === undefined ? wanted.mode : wanted.mode | 0o440;
    if ((stats.mode & 0o7777) !== mode || (group !== undefined && stats.gid !== group)) return false;
    return Buffer.compare(await fs.readFile(file), wanted.content) === 0;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
