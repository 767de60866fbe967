/** Events of containers and sandboxes, each with how the whole sandbox is then. */
import { ContainerEventResponse, ContainerEventType } from '@podwire/cri';
import type { Context } from './context.js';
import { nowNanoseconds } from './nanoseconds.js';
import { statusOfContainer } from './container/status.js';
import { statusOfSandbox } from './sandbox/status.js';
import { type ContainerEntry, containersOf, type SandboxEntry } from './state/inventory.js';

export type Happening = 'CREATED' | 'STARTED' | 'STOPPED' | 'DELETED';

const types = {
  CREATED: ContainerEventType.CONTAINER_CREATED_EVENT,
  STARTED: ContainerEventType.CONTAINER_STARTED_EVENT,
  STOPPED: ContainerEventType.CONTAINER_STOPPED_EVENT,
  DELETED: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const;

export function announceSandbox(context: Context, entry: SandboxEntry, happening: Happening): void {
  announce(context, entry.record.id, entry, happening);
}

export function announceContainer(context: Context, entry: ContainerEntry, happening: Happening): void {
  const sandbox = context.inventory.sandboxes.get(entry.record.sandboxId);
  announce(context, entry.record.id, sandbox, happening);
}

function announce(
  context: Context,
  id: string,
  sandbox: SandboxEntry | undefined,
  happening: Happening,
): void {
  const containers = sandbox === undefined ? [] : containersOf(context.inventory, sandbox.record.id);
  context.events.emit(
    ContainerEventResponse.fromPartial({
      containerId: id,
      containerEventType: types[happening],
      createdAt: nowNanoseconds(context.clock),
      ...(sandbox === undefined ? {} : { podSandboxStatus: statusOfSandbox(sandbox) }),
      containersStatuses: containers.map((each) => statusOfContainer(context, each)),
    }),
  );
}
