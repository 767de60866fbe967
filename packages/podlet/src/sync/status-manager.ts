import { isDeepStrictEqual } from 'node:util';
import { compact } from '@podwire/platform';
import type { PodStage, PodView } from '../contract.js';
import { computeStatus } from '../lifecycle/status.js';
import { type ContainerStatus, localAnnotations, type PodStatus } from '@podwire/pod-spec';
import { probeResultsOf } from './probe-results.js';
import type { TerminationMessageContext, SyncDependencies } from './sync-context.js';
import { findWaits } from '../workers/pod-waits.js';
import type { TraceDependencies, WorkerState } from '../workers/worker-state.js';
import type { ObservedContainer } from '../lifecycle/observed.js';
import type { RuntimeView } from '../runtime/runtime-view.js';

/** @returns whether something was different from before. Also notes when the pod has become ready. */
export function refreshStatus(
  worker: WorkerState,
  dependencies: SyncDependencies & Pick<TraceDependencies, 'preciseNow'>,
): boolean {
  const status = computeWorkerStatus(worker, dependencies);
  const stage = stageOf(worker, status);
  const isReady = isTrue(status, 'Ready');
  worker.waits.note(findWaits(worker.pod, status), worker.trace, dependencies.preciseNow());
  if (isReady) worker.trace.finish();
  if (stage === worker.stage && isDeepStrictEqual(status, worker.status)) return false;
  worker.status = status;
  worker.stage = stage;
  return true;
}

function computeWorkerStatus(
  worker: WorkerState,
  { view, prober, clock, node }: SyncDependencies,
): PodStatus {
  const { uid, waiting, sandboxProblem, failure, blocked, ended } = worker;
  return computeStatus(worker.pod, view.observed(uid), {
    probeResult: probeResultsOf({ worker, view, prober }),
    waiting,
    interrupted: worker.interrupted,
    terminationMessages: worker.terminationMessages,
    ended,
    previous: worker.status,
    now: clock.now(),
    nodeAddresses: node.addresses,
    ...compact({ sandboxProblem, failure, blocked }),
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

/** Reads once what each ended container wanted its status to say. What cannot be read is no reason to stop. */
export async function readTerminationMessages(context: TerminationMessageContext): Promise<void> {
  const { worker, view } = context;
  const unread = view
    .observed(worker.uid)
    .containers.filter((one) => one.state === 'exited' && !worker.terminationMessages.has(one.id));
  if (unread.length === 0) return;
  const known = new Set(view.observed(worker.uid).containers.map(({ id }) => id));
  for (const id of [...worker.terminationMessages.keys()])
    if (!known.has(id)) worker.terminationMessages.delete(id);
  for (const one of unread)
    worker.terminationMessages.set(one.id, await readMessage(context, one).catch(() => ''));
}

async function readMessage(context: TerminationMessageContext, instance: ObservedContainer): Promise<string> {
  const { pod, uid } = context.worker;
  const text = await context.preparation.readTerminationLog(uid, instance.name, instance.attempt);
  if (text !== '') return text;
  const container = [...pod.spec.containers, ...pod.spec.initContainers].find(
    ({ name }) => name === instance.name,
  );
  const falls = container?.terminationMessagePolicy === 'FallbackToLogsOnError' && instance.exitCode !== 0;
  return falls ? ((await context.readLogTail?.(instance.logPath)) ?? '') : '';
}

/** The pod as the API shows it. */
export function viewPod(worker: WorkerState, view: RuntimeView): PodView {
  const { metadata } = worker.pod;
  const { status, trace, statusRefusal } = worker;
  const observed = view.observed(worker.uid);
  const sandboxId = observed.sandboxes[0]?.id;
  const origin = metadata.annotations[localAnnotations.origin];
  const logs = new Map(observed.containers.map(({ id, logPath }) => [id, logPath]));
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: worker.uid,
    source: worker.source ?? 'file',
    ...compact({ origin }),
    stage: worker.stage,
    status,
    containers: [...status.initContainerStatuses, ...status.containerStatuses].map((container) =>
      withLog(container, logs.get(container.containerID)),
    ),
    ...compact({ sandboxId, statusRefusal }),
    events: worker.events.list(),
    trace: trace.context,
  };
}

function withLog(container: ContainerStatus, logPath: string | undefined) {
  return logPath === undefined || logPath === '' ? container : { ...container, logPath };
}
