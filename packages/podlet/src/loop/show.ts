import { isDeepStrictEqual } from 'node:util';
import type { PodStage } from '../contract.js';
import { computeStatus } from '../lifecycle/status.js';
import type { PodStatus } from '@podwire/pod-spec';
import type { StepDependencies } from './dependencies.js';
import type { WorkerState } from './worker-state.js';

/** @returns whether something was different from before. Also notes when the pod has become ready. */
export function updateStatus(worker: WorkerState, dependencies: StepDependencies): boolean {
  const status = statusOf(worker, dependencies);
  const stage = stageOf(worker, status);
  const isReady = isTrue(status, 'Ready');
  if (isReady) worker.trace.finish();
  if (stage === worker.stage && isDeepStrictEqual(status, worker.status)) return false;
  worker.status = status;
  worker.stage = stage;
  return true;
}

function statusOf(worker: WorkerState, { view, prober, clock, node }: StepDependencies): PodStatus {
  const { uid, waiting, sandboxProblem, failure, blocked, ended } = worker;
  return computeStatus(worker.pod, view.observed(uid), {
    verdict: (name, kind) => prober.verdict(uid, name, kind),
    waiting,
    interrupted: worker.interrupted,
    lastWords: worker.lastWords,
    ended,
    previous: worker.status,
    now: clock.now(),
    nodeAddresses: node.addresses,
    ...(sandboxProblem === undefined ? {} : { sandboxProblem }),
    ...(failure === undefined ? {} : { failure }),
    ...(blocked === undefined ? {} : { blocked }),
  });
}

function stageOf(worker: WorkerState, status: PodStatus): PodStage {
  if (worker.stage === 'terminating' || worker.stage === 'terminated') return worker.stage;
  if (status.phase === 'Running') return 'running';
  return worker.stage === 'waiting' ? 'waiting' : 'starting';
}

function isTrue(status: PodStatus, type: string): boolean {
  return status.conditions.some((condition) => condition.type === type && condition.status === 'True');
}
