/** Events of containers and sandboxes, each with how the whole sandbox is then. */
import { ContainerEventResponse, ContainerEventType, nowNanoseconds } from '@podwire/cri';
import type { Context } from './context.js';
import { statusOfContainer } from './container/status.js';
import { statusOfSandbox } from './sandbox/status.js';
import { type ContainerEntry, containersOf, type SandboxEntry } from './state/inventory.js';

export type EventKind = 'CREATED' | 'STARTED' | 'STOPPED' | 'DELETED';

const types = {
  CREATED: ContainerEventType.CONTAINER_CREATED_EVENT,
  STARTED: ContainerEventType.CONTAINER_STARTED_EVENT,
  STOPPED: ContainerEventType.CONTAINER_STOPPED_EVENT,
  DELETED: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const;

export function emitSandboxEvent(context: Context, entry: SandboxEntry, kind: EventKind): void {
  emitEvent(context, entry.record.id, entry, kind);
}

export function emitContainerEvent(context: Context, entry: ContainerEntry, kind: EventKind): void {
  const sandbox = context.inventory.sandboxes.get(entry.record.sandboxId);
  emitEvent(context, entry.record.id, sandbox, kind);
}

function emitEvent(context: Context, id: string, sandbox: SandboxEntry | undefined, kind: EventKind): void {
  const containers = sandbox === undefined ? [] : containersOf(context.inventory, sandbox.record.id);
  context.events.emit(
    ContainerEventResponse.fromPartial({
      containerId: id,
      containerEventType: types[kind],
      createdAt: nowNanoseconds(context.clock),
      ...(sandbox === undefined ? {} : { podSandboxStatus: statusOfSandbox(sandbox) }),
      containersStatuses: containers.map((each) => statusOfContainer(context, each)),
    }),
  );
}
