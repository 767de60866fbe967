/** Network namespaces of sandboxes, pinned under names of their own: `/proc/PID/ns/net` may be another pod's one day. */
import fs from 'node:fs';
import path from 'node:path';
import { deleteNamespace, hasCode, openNamespace, pinNamespace } from '@podwire/linux';
import type { SandboxContext } from '../context.js';

export function netnsFile({ settings }: SandboxContext, id: string): string {
  return path.join(settings.netnsDirectory, `podwire-${id}`);
}

/**
 * Pins the namespace of a running sandbox. Between the look at its process and the mount the process may have died and its
 * number be another's, so it is looked at again.
 */
export async function pinSandbox(context: SandboxContext, id: string, signal: AbortSignal): Promise<string> {
  const file = netnsFile(context, id);
  const before = await runningPid(context, id, signal);
  deleteNamespace(file); // what a crash left
  pinNamespace(before, file);
  const after = await runningPid(context, id, signal).catch((error: unknown) => {
    deleteNamespace(file);
    throw error;
  });
  if (before === after && inodeOf(`/proc/${after}/ns/net`) === inodeOf(file)) return file;
  deleteNamespace(file);
  throw new Error(`the process of sandbox ${id} changed while its network namespace was pinned`);
}

async function runningPid({ docker }: SandboxContext, id: string, signal: AbortSignal): Promise<number> {
  const { State } = await docker.inspectContainer(id, {}, { signal });
  if (State.Running && State.Pid > 0) return State.Pid;
  throw new Error(`the sandbox ${id} has terminated (exit code ${State.ExitCode})`);
}

export function unpinSandbox(context: SandboxContext, id: string): void {
  deleteNamespace(netnsFile(context, id));
}

/** The pinned file, if there is a namespace behind it. After a reboot the file may be there, and empty. */
export function pinnedNetns(context: SandboxContext, id: string): string | undefined {
  const file = netnsFile(context, id);
  try {
    openNamespace(file).close();
    return file;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}

/** True if the namespace of this process is the one that is pinned. */
export function isPinnedTo(context: SandboxContext, id: string, pid: number): boolean {
  const file = pinnedNetns(context, id);
  return file !== undefined && inodeOf(file) === inodeOf(`/proc/${pid}/ns/net`);
}

function inodeOf(file: string): number | undefined {
  return fs.statSync(file, { throwIfNoEntry: false })?.ino;
}
