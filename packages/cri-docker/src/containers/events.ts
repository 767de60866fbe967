/** Docker's events as those of the interface. */
import { CriError, ContainerEventResponse, ContainerEventType } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { orUndefined } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { type EngineEvent, isNotFound } from '../docker/index.js';
import { containerType, labelKeys, sandboxType } from '../labels.js';
import { describeSandbox } from '../sandboxes/status.js';
import { listWorkloads } from '../sandboxes/stop.js';
import { toContainerStatus } from './describe.js';

const eventTypes = new Map<string, ContainerEventType>([
  ['create', ContainerEventType.CONTAINER_CREATED_EVENT],
  ['start', ContainerEventType.CONTAINER_STARTED_EVENT],
  ['die', ContainerEventType.CONTAINER_STOPPED_EVENT],
  ['destroy', ContainerEventType.CONTAINER_DELETED_EVENT],
]);

/** @throws CriError UNAVAILABLE when the engine goes away: callers then list, and ask again */
export async function* streamEvents(
  context: SandboxContext,
  signal: AbortSignal,
): AsyncGenerator<ContainerEventResponse> {
  const filters = { event: [...eventTypes.keys()], label: [labelKeys.type] };
  try {
    for await (const event of context.docker.events(filters, { signal })) {
      const type = eventTypes.get(event.Action);
      if (type !== undefined && isOwn(context, event)) yield await toResponse(context, event, type, signal);
    }
  } catch (error) {
    if (signal.aborted) return;
    // When the engine dies, only Node's own error says so.
    throw new CriError('UNAVAILABLE', `the events broke off: ${describeError(error)}`, { cause: error });
  }
  if (!signal.aborted) throw new CriError('UNAVAILABLE', 'Docker Engine ended the stream of events');
}

const isOwn = ({ owners }: SandboxContext, { Actor: { ID, Attributes } }: EngineEvent): boolean =>
  [containerType, sandboxType].includes(Attributes?.[labelKeys.type] ?? '') && owners.owns(ID, Attributes);

async function toResponse(
  context: SandboxContext,
  { Actor, timeNano }: EngineEvent,
  containerEventType: ContainerEventType,
  signal: AbortSignal,
): Promise<ContainerEventResponse> {
  const isSandbox = Actor.Attributes?.[labelKeys.type] === sandboxType;
  const sandboxId = isSandbox ? Actor.ID : (Actor.Attributes?.[labelKeys.sandboxId] ?? '');
  return ContainerEventResponse.fromPartial({
    containerId: Actor.ID,
    containerEventType,
    // JSON's numbers hold it to a quarter of a microsecond.
    createdAt: BigInt(timeNano),
    ...(await readPod(context, sandboxId, signal)),
  });
}

/** How it is now, which may be later than the event. Nothing where the sandbox is gone. */
export async function readPod(
  context: SandboxContext,
  sandboxId: string,
  signal: AbortSignal,
): Promise<Pick<ContainerEventResponse, 'podSandboxStatus' | 'containersStatuses'>> {
  try {
    const sandbox = await context.docker.inspectContainer(sandboxId, {}, { signal });
    const workloads = await listWorkloads(context, sandboxId, signal);
    const found = await Promise.all(
      workloads.map(({ Id }) => orUndefined(context.docker.inspectContainer(Id, {}, { signal }), isNotFound)),
    );
    const containersStatuses = found.flatMap((one) =>
      one === undefined ? [] : [toContainerStatus(one, undefined)],
    );
    return { podSandboxStatus: await describeSandbox(context, sandbox), containersStatuses };
  } catch (error) {
    if (isNotFound(error)) return { podSandboxStatus: undefined, containersStatuses: [] };
    throw error;
  }
}
