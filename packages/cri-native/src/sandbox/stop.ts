import { emitSandboxEvent } from '../emit-events.js';
import type { Context } from '../context.js';
import { killContainer } from '../container/stop.js';
import { removeContainer } from '../container/remove.js';
import { toCriError } from '../failure.js';
import { advanceSandbox } from '../state/directory.js';
import { containersOf, findSandbox, type SandboxEntry } from '../state/inventory.js';
import type { Phase } from '../state/record.js';
import { dropSandbox, releaseSandbox } from './teardown.js';

/**
 * Containers first, then the network while the namespace is still pinned, then the pause process and the pins. However many call it
 * at once, it is done once; a sandbox that is stopped or unknown is fine.
 */
export async function stopSandbox(context: Context, id: string, signal?: AbortSignal): Promise<void> {
  const entry = findSandbox(context.inventory, id);
  if (entry === undefined || entry.phase === 'stopped') return;
  await context.terminations.join(`stop ${entry.record.id}`, signal, () => stop(context, entry));
}

async function stop(context: Context, entry: SandboxEntry): Promise<void> {
  const { id } = entry.record;
  // A call that began while another one was finishing.
  if (entry.phase === 'stopped') return;
  try {
    context.faults.reach('stop:begin');
    advance(context, entry, 'stopping');
    context.faults.reach('stop:recorded');
    await Promise.all(containersOf(context.inventory, id).map((each) => killContainer(context, each)));
    context.faults.reach('stop:killed');
    await releaseSandbox(context, entry);
    advance(context, entry, 'stopped');
    context.faults.reach('stop:done');
  } catch (error) {
    throw toCriError(`stop sandbox ${id}`, error);
  }
  emitSandboxEvent(context, entry, 'STOPPED');
}

function advance(context: Context, entry: SandboxEntry, phase: Phase): void {
  if (entry.phase === phase) return;
  advanceSandbox(context.directory, entry.record.id, entry.phase, phase);
  entry.phase = phase;
}

/** Stops it if that is not done yet, and removes it with all its containers. One that is unknown is fine. */
export async function removeSandbox(context: Context, id: string, signal?: AbortSignal): Promise<void> {
  const entry = findSandbox(context.inventory, id);
  if (entry === undefined) return;
  await context.terminations.join(`remove ${entry.record.id}`, signal, () => remove(context, entry));
}

async function remove(context: Context, entry: SandboxEntry): Promise<void> {
  const { id } = entry.record;
  if (!context.inventory.sandboxes.has(id)) return;
  await stopSandbox(context, id);
  for (const container of containersOf(context.inventory, id))
    await removeContainer(context, container.record.id);
  context.faults.reach('remove:emptied');
  await dropSandbox(context, entry);
  context.inventory.sandboxes.delete(id);
  emitSandboxEvent(context, entry, 'DELETED');
}
