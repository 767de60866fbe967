import { compact } from '@podwire/platform';
import { type AdmissionNode, evaluateAdmission, findBlock, type Refusal } from '../admission/index.js';
import type { PodletNode } from '../contract.js';
import { isTerminal } from '../lifecycle/phase.js';
import { isStopped } from '../lifecycle/stopped.js';
import type { RuntimeView } from '../runtime/runtime-view.js';
import type { WorkerState } from './worker-state.js';

export interface AdmissionContext {
  readonly node: PodletNode;
  readonly view: Pick<RuntimeView, 'observed'>;
  readonly updateStatus: (worker: WorkerState) => void;
}

/**
 * Decides if the node takes this pod. It is decided once for each, in the order of arrival. A pod that has something in the runtime
 * was admitted by an earlier agent and stays, whatever has been added beside it since.
 * @returns why it is refused
 */
export function admit(
  worker: WorkerState,
  all: readonly WorkerState[],
  context: AdmissionContext,
): Refusal | undefined {
  if (worker.admission === 'undecided') decideAll(all, context);
  // A cause that was removed since no longer blocks; a pod that has begun goes on.
  if (!hasBegun(context, worker)) worker.blocked = findBlock(worker.pod, context.node.appArmor);
  return typeof worker.admission === 'string' ? undefined : worker.admission;
}

/** All at once, because pods that run go before pods that have only arrived first. */
function decideAll(all: readonly WorkerState[], context: AdmissionContext): void {
  // Of a stopped one nothing runs; when it runs again it is decided anew.
  const workers = all.filter(({ orphan, pod }) => !orphan && !isStopped(pod));
  for (const worker of workers)
    if (worker.admission === 'undecided' && hasBegun(context, worker)) admitRunning(context, worker);
  const node = admissionNode(context.node);
  const admitted = workers.filter(usesResources).map(({ pod }) => pod);
  for (const worker of workers) {
    if (worker.admission !== 'undecided') continue;
    worker.admission = evaluateAdmission(worker.pod, node, admitted) ?? 'admitted';
    if (usesResources(worker)) admitted.push(worker.pod);
  }
}

function hasBegun({ view }: AdmissionContext, { uid }: WorkerState): boolean {
  const { sandboxes, containers } = view.observed(uid);
  return sandboxes.length + containers.length > 0;
}

/** Its status comes first: a pod that has ended uses nothing. */
function admitRunning({ updateStatus }: AdmissionContext, worker: WorkerState): void {
  updateStatus(worker);
  worker.admission = 'admitted';
}

/** A pod that is being taken down does not count: otherwise a pod that was renamed would block itself. */
function usesResources({ admission, kill, status }: WorkerState): boolean {
  return admission === 'admitted' && kill === undefined && !isTerminal(status.phase);
}

function admissionNode({
  name,
  labels,
  milliCpu,
  memoryBytes,
  allowedUnsafeSysctls,
}: PodletNode): AdmissionNode {
  return {
    name,
    labels: labels ?? {},
    capacity: compact({ cpu: milliCpu, memory: memoryBytes }),
    allowedUnsafeSysctls: allowedUnsafeSysctls ?? [],
  };
}
