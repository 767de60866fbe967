import type { ContainerState, ContainerStatus } from '@podwire/pod-spec';

/** bytes of all that a pod's containers said at their end, shared equally, as the kubelet's status manager does */
const longestOfPod = 12 * 1024;

/** A status goes into one object of the API, and a pod may have hundreds of containers. The beginning is kept. */
export function limitTerminationMessages(
  statuses: readonly ContainerStatus[],
  containers: number,
): ContainerStatus[] {
  const longest = Math.floor(longestOfPod / Math.max(1, containers));
  return statuses.map((status) => ({
    ...status,
    state: limitState(status.state, longest),
    lastState: limitState(status.lastState, longest),
  }));
}

function limitState(state: ContainerState, longest: number): ContainerState {
  const { terminated } = state;
  if (terminated?.message === undefined || Buffer.byteLength(terminated.message) <= longest) return state;
  return { ...state, terminated: { ...terminated, message: cut(terminated.message, longest) } };
}

/** Not within a character. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
