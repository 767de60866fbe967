import { type ContainerFilter, ContainerState } from '@podwire/cri';
import { compact } from '@podwire/platform';
import { containerType, labelKeys } from '../labels.js';

const states = new Map<ContainerState, readonly string[]>([
  [ContainerState.CONTAINER_CREATED, ['created']],
  [ContainerState.CONTAINER_RUNNING, ['running']],
  [ContainerState.CONTAINER_EXITED, ['exited', 'dead']],
]);

/** The part of a filter that Docker applies by itself. */
export function containerFilters(filter: ContainerFilter | undefined): Record<string, readonly string[]> {
  const labels = Object.entries(filter?.labelSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  const sandbox = filter?.podSandboxId;
  const status = filter?.state === undefined ? undefined : states.get(filter.state.state);
  return {
    label: [
      `${labelKeys.type}=${containerType}`,
      ...labels,
      // A whole id; the beginning of one is compared afterwards.
      ...(sandbox?.length === 64 ? [`${labelKeys.sandboxId}=${sandbox}`] : []),
    ],
    ...(filter?.id ? { id: [filter.id] } : {}),
    ...compact({ status }),
  };
}
