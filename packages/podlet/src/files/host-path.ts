import { ifExists } from '@podwire/platform';
import type { Stats } from 'node:fs';
import fs from 'node:fs/promises';
import type { Volume } from '@podwire/pod-spec';

type Check = readonly [what: string, is: (stats: Stats) => boolean];

const directory: Check = ['a directory', (stats) => stats.isDirectory()];
const file: Check = ['a file', (stats) => stats.isFile()];

const checks: Readonly<Record<string, Check>> = {
  Directory: directory,
  DirectoryOrCreate: directory,
  File: file,
  FileOrCreate: file,
  Socket: ['a socket', (stats) => stats.isSocket()],
  CharDevice: ['a character device', (stats) => stats.isCharacterDevice()],
  BlockDevice: ['a block device', (stats) => stats.isBlockDevice()],
};

/**
 * Makes sure that the path on the node is what the volume's `type` says; without a type nothing is looked at. Links are
 * followed. @throws Error in words for people
 */
export async function prepareHostPath({ path, type = '' }: NonNullable<Volume['hostPath']>): Promise<void> {
  if (type === '') return;
  const check = checks[type];
  if (check === undefined) throw new Error(`hostPath type ${JSON.stringify(type)} is unknown`);
  const [what, is] = check;
  const stats = await statOrCreate(path, type);
  if (stats === undefined) throw new Error(`${path} does not exist, but should be ${what}`);
  if (!is(stats)) throw new Error(`${path} is not ${what}`);
}

async function statOrCreate(path: string, type: string): Promise<Stats | undefined> {
  const stats = await ifExists(fs.stat(path));
  if (stats !== undefined || !type.endsWith('OrCreate')) return stats;
  if (type === 'DirectoryOrCreate') await fs.mkdir(path, { recursive: true, mode: 0o755 });
  // Its directory is not made: the permissions would be guessed.
  else await createFile(path);
  return ifExists(fs.stat(path));
}

async function createFile(path: string): Promise<void> {
  const handle = await fs.open(path, 'a', 0o644);
  await handle.close();
}
