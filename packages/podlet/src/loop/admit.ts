import { type AdmissionNode, findBlock, judgeAdmission, type Refusal } from '../admission/index.js';
import type { PodletNode } from '../contract.js';
import { isTerminal } from '../lifecycle/phase.js';
import type { Pool } from './pool-state.js';
import { show } from './publish.js';
import type { WorkerState } from './worker-state.js';

/**
 * Whether the node takes this pod. It is decided once for each, in the order in which they came; a pod that has something in
 * the runtime was taken by an earlier agent and stays, whatever has come beside it since.
 * @returns why it is refused
 */
export function admit(pool: Pool, worker: WorkerState): Refusal | undefined {
  const { appArmor } = pool.dependencies.node;
  if (worker.admission === 'undecided') decideAll(pool);
  // What was put right since is looked at again; what has begun goes on.
  if (!hasBegun(pool, worker)) worker.blocked = findBlock(worker.pod, appArmor);
  return typeof worker.admission === 'string' ? undefined : worker.admission;
}

/** All at once, since what runs goes before what has only come first. */
function decideAll(pool: Pool): void {
  const workers = [...pool.entries.values()].map(({ state }) => state).filter(({ orphan }) => !orphan);
  for (const worker of workers)
    if (worker.admission === 'undecided' && hasBegun(pool, worker)) adopt(pool, worker);
  const node = admissionNode(pool.dependencies.node);
  const taken = workers.filter(holdsPlace).map(({ pod }) => pod);
  for (const worker of workers) {
    if (worker.admission !== 'undecided') continue;
    worker.admission = judgeAdmission(worker.pod, node, taken) ?? 'taken';
    if (holdsPlace(worker)) taken.push(worker.pod);
  }
}

function hasBegun({ dependencies }: Pool, { uid }: WorkerState): boolean {
  const { sandboxes, containers } = dependencies.view.observed(uid);
  return sandboxes.length + containers.length > 0;
}

/** What it did is seen first: one that has ended holds no place. */
function adopt(pool: Pool, worker: WorkerState): void {
  show(pool, worker);
  worker.admission = 'taken';
}

/** A pod that is being taken down makes room: one that was renamed is not in its own way. */
function holdsPlace({ admission, kill, status }: WorkerState): boolean {
  return admission === 'taken' && kill === undefined && !isTerminal(status.phase);
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
    capacity: {
      ...(milliCpu === undefined ? {} : { cpu: milliCpu }),
      ...(memoryBytes === undefined ? {} : { memory: memoryBytes }),
    },
    allowedUnsafeSysctls: allowedUnsafeSysctls ?? [],
  };
}
