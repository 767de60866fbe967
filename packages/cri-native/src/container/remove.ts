import { emitContainerEvent } from '../emit-events.js';
import type { Context } from '../context.js';
import { toCriError } from '../failure.js';
import { containerDirectory, deleteDirectory, forgetContainer } from '../state/directory.js';
import { type ContainerEntry, findContainer } from '../state/inventory.js';
import { killContainer, untilShimIsGone } from './stop.js';

/** Kills it if it runs, and deletes everything of it but the log. One that is unknown is fine. */
export async function removeContainer(context: Context, id: string, signal?: AbortSignal): Promise<void> {
  const entry = findContainer(context.inventory, id);
  if (entry === undefined) return;
  await context.terminations.join(`remove ${entry.record.id}`, signal, () => remove(context, entry));
}

async function remove(context: Context, entry: ContainerEntry): Promise<void> {
  const { id } = entry.record;
  if (!context.inventory.containers.has(id)) return;
  try {
    // It cannot be started any more.
    entry.starting ??= Promise.resolve();
    await killContainer(context, entry);
    await untilShimIsGone(context, id);
    context.faults.reach('container:killed');
    forgetContainer(context.directory, id);
    context.faults.reach('container:forgotten');
    await deleteDirectory(containerDirectory(context.directory, id), context.log);
  } catch (error) {
    throw toCriError(`remove container ${id}`, error);
  }
  context.inventory.containers.delete(id);
  context.layers.forget(id);
  emitContainerEvent(context, entry, 'DELETED');
}
