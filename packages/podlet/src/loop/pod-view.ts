import type { PodView } from '../contract.js';
import { type ContainerStatus, localAnnotations } from '@podwire/pod-spec';
import type { RuntimeView } from './runtime-view.js';
import type { WorkerState } from './worker-state.js';

/** What is shown of a pod. */
export function viewPod(worker: WorkerState, view: RuntimeView): PodView {
  const { metadata } = worker.pod;
  const { status, trace } = worker;
  const observed = view.observed(worker.uid);
  const sandboxId = observed.sandboxes[0]?.id;
  const origin = metadata.annotations[localAnnotations.origin];
  const logs = new Map(observed.containers.map(({ id, logPath }) => [id, logPath]));
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: worker.uid,
    source: worker.source ?? 'file',
    ...(origin === undefined ? {} : { origin }),
    stage: worker.stage,
    status,
    containers: [...status.initContainerStatuses, ...status.containerStatuses].map((container) =>
      withLog(container, logs.get(container.containerID)),
    ),
    ...(sandboxId === undefined ? {} : { sandboxId }),
    events: worker.events.list(),
    trace: trace.context,
  };
}

function withLog(container: ContainerStatus, logPath: string | undefined) {
  return logPath === undefined || logPath === '' ? container : { ...container, logPath };
}
