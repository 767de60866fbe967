/** `/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log`: links to logs, by which log collectors know whose they are. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '@podwire/linux';

export interface LogOwner {
  readonly namespace: string;
  readonly podName: string;
  readonly containerName: string;
  readonly containerId: string;
  /** The file. */
  readonly logPath: string;
}

const longestName = 255;
const suffix = '.log';

/** As the kubelet's: what is too long for a file name is cut off, which is of the id. */
export function linkName({ podName, namespace, containerName, containerId }: LogOwner): string {
  const name = `${podName}_${namespace}_${containerName}-${containerId}`;
  return `${name.slice(0, longestName - suffix.length)}${suffix}`;
}

export async function makeLink(directory: string, owner: LogOwner): Promise<void> {
  await fs.mkdir(directory, { recursive: true, mode: 0o755 });
  const link = path.join(directory, linkName(owner));
  try {
    await fs.symlink(owner.logPath, link);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

export async function removeLink(directory: string, owner: LogOwner): Promise<void> {
  await fs.rm(path.join(directory, linkName(owner)), { force: true });
}

/**
 * Removes links to logs below `logs` that are gone. One in `owned` stays: its log is being rotated.
 * @param owned names of links
 */
export async function removeDeadLinks(
  directory: string,
  logs: string,
  owned: ReadonlySet<string>,
): Promise<void> {
  const names = await fs.readdir(directory).catch((): string[] => []);
  for (const name of names.filter((each) => each.endsWith(suffix) && !owned.has(each))) {
    const link = path.join(directory, name);
    const target = await fs.readlink(link).catch(() => undefined);
    if (target === undefined || !target.startsWith(`${logs}/`)) continue;
    const isDead = await fs.access(link).then(
      () => false,
      (error: unknown) => hasCode(error, 'ENOENT'),
    );
    if (isDead) await fs.rm(link, { force: true });
  }
}
