import { bindMount, hasCode, mountTmpfs, readMounts, unmount, unmountLazily } from '@podwire/linux';
import fs from 'node:fs/promises';

/** The kernel's mounts, as far as volumes need them. */
export interface Mounts {
  mountTmpfs(target: string, options: { readonly sizeBytes?: bigint; readonly mode?: number }): void;
  bindMount(source: string, target: string): void;
  unmount(target: string): void;
  /** Mount points at or below a directory, in the order in which they were mounted. */
  below(directory: string): Promise<readonly string[]>;
}

export const kernelMounts: Mounts = {
  mountTmpfs,
  bindMount,
  unmount: unmountEvenBusy,
  below: async (directory) =>
    readMounts(await fs.readFile('/proc/thread-self/mountinfo', 'utf8'))
      .map((mount) => mount.path)
      .filter((point) => point === directory || point.startsWith(`${directory}/`)),
};

/** A process that still has a file open there keeps the file system, not its place in the tree. */
function unmountEvenBusy(target: string): void {
  try {
    unmount(target);
  } catch (error) {
    if (!hasCode(error, 'EBUSY')) throw error;
    unmountLazily(target);
  }
}

/** Resolves symbolic links first: mountinfo has real paths. */
export async function isMountPoint(mounts: Mounts, directory: string): Promise<boolean> {
  const real = await fs.realpath(directory);
  return (await mounts.below(real)).includes(real);
}
