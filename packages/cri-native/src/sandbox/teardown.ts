import { deleteNamespace, hasCode, openNamespace, removeTree, unmountLazily } from '@podwire/linux';
import type { Context } from '../context.js';
import { deleteDirectory, forgetSandbox, sandboxDirectory } from '../state/directory.js';
import type { SandboxEntry } from '../state/inventory.js';
import type { SandboxRecord } from '../state/record.js';
import { endPauseProcess } from './pause-process.js';

const REMOVE_MILLISECONDS = 10_000;

/** Off the network while its namespace is pinned, then the pause process, then the pin: whatever of it there is. Idempotent. */
export async function releaseSandbox(context: Context, entry: SandboxEntry): Promise<void> {
  const { record } = entry;
  const reach = (point: string): void => context.faults.reach(point);
  if (record.netns !== undefined) await detach(context, record, record.netns);
  reach('stop:detached');
  await endPauseProcess(context, entry);
  reach('stop:released');
  if (record.netns !== undefined) deleteNamespace(record.netns);
  reach('stop:unpinned');
  if (record.shm !== undefined) await removeSharedMemory(record.shm);
}

/** A container that is only now ending may still have it. Older records name a directory of the host's /dev/shm. */
async function removeSharedMemory(directory: string): Promise<void> {
  try {
    unmountLazily(directory);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EINVAL')) throw error;
  }
  await removeTree(directory, { signal: AbortSignal.timeout(REMOVE_MILLISECONDS) });
}

async function detach(context: Context, record: SandboxRecord, netns: string): Promise<void> {
  const { name = '', namespace = '' } = record.config.metadata ?? {};
  const pod = { name, namespace, sandboxId: record.id };
  // After a reboot the file may still be there, but what it stood for is gone.
  const isThere = record.bootId === context.bootId && isNamespace(netns);
  await context.network.tearDown(isThere ? { ...pod, netns } : pod);
}

function isNamespace(file: string): boolean {
  try {
    openNamespace(file).close();
    return true;
  } catch {
    return false;
  }
}

/** Everything of it, the record last. */
export async function undoSandbox(context: Context, entry: SandboxEntry): Promise<void> {
  await releaseSandbox(context, entry);
  context.faults.reach('undo:released');
  await dropSandbox(context, entry);
}

export async function dropSandbox(context: Context, entry: SandboxEntry): Promise<void> {
  forgetSandbox(context.directory, entry.record.id, entry.phase);
  context.faults.reach('remove:forgotten');
  await deleteDirectory(sandboxDirectory(context.directory, entry.record.id), context.log);
}
