import { parseQuantity } from '@podwire/quantity';
import { hasCode } from '@podwire/linux';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Volume } from '../pod/pod.js';
import { isMountPoint, type Mounts } from './mounts.js';
import { setDirectoryRights } from './ownership.js';

/** Everybody of the pod may write, as Kubernetes has it. */
const mode = 0o777;

/** Makes the directory of an emptyDir at its first call and leaves it alone later: it holds the pod's data then. */
export async function prepareEmptyDir(
  directory: string,
  volume: NonNullable<Volume['emptyDir']>,
  group: number | undefined,
  mounts: Mounts,
): Promise<void> {
  const isNew = await makeDirectory(directory);
  const needsMount = volume.medium === 'Memory' && !(await isMountPoint(mounts, directory));
  if (needsMount) mounts.mountTmpfs(directory, { mode, ...sizeOf(volume.sizeLimit) });
  if (isNew || needsMount) await setDirectoryRights(directory, mode, group);
}

/** @returns whether it was not there before */
async function makeDirectory(directory: string): Promise<boolean> {
  await fs.mkdir(path.dirname(directory), { recursive: true, mode: 0o750 });
  try {
    await fs.mkdir(directory);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** For a tmpfs, a size of 0 would be no limit at all. */
function sizeOf(limit: string | undefined): { sizeBytes?: bigint } {
  const sizeBytes = limit === undefined ? undefined : parseQuantity(limit);
  return sizeBytes === undefined || sizeBytes <= 0n ? {} : { sizeBytes };
}
