import fs from 'node:fs/promises';

const setGroupId = 0o2000;

/**
 * Makes a directory with just these rights, whatever the umask, and where `group` is given (the pod's fsGroup) belonging to it,
 * so that what is made inside belongs to it, too.
 */
export async function setDirectoryRights(directory: string, mode: number, group?: number): Promise<void> {
  if (group !== undefined) await fs.chown(directory, 0, group);
  // After chown, which takes set-group-id away.
  await fs.chmod(directory, group === undefined ? mode : mode | setGroupId | 0o070);
}

/** A group that owns a file may at least read it. */
export async function setFileRights(file: string, mode: number, group?: number): Promise<void> {
  if (group !== undefined) await fs.chown(file, 0, group);
  await fs.chmod(file, group === undefined ? mode : mode | 0o440);
}
