import { parseQuantity } from '@podwire/apimachinery';
import { ifExists } from '@podwire/platform';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Volume } from '@podwire/pod-spec';
import { isMountPoint, type Mounts } from './mounts.js';
import { setDirectoryRights } from './ownership.js';

/** All users of the pod may write, as in Kubernetes. */
const mode = 0o777;

/** Makes the directory of an emptyDir at its first call and leaves it alone later: it holds the pod's data then. */
export async function prepareEmptyDir(
  directory: string,
  volume: NonNullable<Volume['emptyDir']>,
  group: number | undefined,
  mounts: Mounts,
): Promise<void> {
  if ((await ifExists(fs.lstat(directory))) === undefined) await makeDirectory(directory, group);
  if (volume.medium !== 'Memory' || (await isMountPoint(mounts, directory))) return;
  mounts.mountTmpfs(directory, { mode, ...sizeOf(volume.sizeLimit) });
  try {
    await setDirectoryRights(directory, mode, group);
  } catch (error) {
    mounts.unmount(directory);
    throw error;
  }
}

/** It is renamed last, so it never exists with wrong permissions. No volume's name begins with a dot. */
async function makeDirectory(directory: string, group: number | undefined): Promise<void> {
  const { dir, base } = path.parse(directory);
  const unfinished = path.join(dir, `.${base}`);
  await fs.mkdir(unfinished, { recursive: true, mode: 0o750 });
  await setDirectoryRights(unfinished, mode, group);
  await fs.rename(unfinished, directory);
}

/** For a tmpfs, a size of 0 would be no limit at all. */
function sizeOf(limit: string | undefined): { sizeBytes?: bigint } {
  const sizeBytes = limit === undefined ? undefined : parseQuantity(limit);
  return sizeBytes === undefined || sizeBytes <= 0n ? {} : { sizeBytes };
}
