import { randomBytes } from 'node:crypto';
import { createBackOff } from '../lifecycle/back-off.js';
import { localAnnotations, type Pod, podName, type PodSpec } from '@podwire/pod-spec';
import type { StepDependencies } from './dependencies.js';
import { type PodMarks, readSource } from './marks.js';
import { createPodEvents } from './pod-events.js';
import { createPodTrace, type PodTrace } from './pod-trace.js';
import type { WorkerState } from './worker-state.js';

/** How a pod got here. Milliseconds since the epoch, the clock of spans. */
export interface ArrivalTimes {
  readonly causedAt: number;
  readonly mergedAt: number;
  readonly arrivedAt: number;
}

export interface NewWorker {
  readonly pod: Pod;
  readonly orphan: boolean;
  readonly times: ArrivalTimes;
}

export function createWorkerState(dependencies: StepDependencies, wish: NewWorker): WorkerState {
  const { settings } = dependencies;
  const { pod, times, orphan } = wish;
  return {
    uid: pod.metadata.uid,
    source: readSource(pod.metadata.annotations[localAnnotations.source]),
    orphan,
    pod,
    kill: undefined,
    removed: false,
    successor: undefined,
    arrivedAt: times.arrivedAt,
    stage: 'waiting',
    status: pod.status,
    waiting: new Map(),
    interrupted: new Set(),
    admission: 'undecided',
    blocked: undefined,
    sandboxProblem: undefined,
    failure: undefined,
    ended: false,
    gone: false,
    restarts: createBackOff(settings.restartBackOff),
    images: new Map(),
    imagePauses: createBackOff(settings.imageBackOff),
    events: createPodEvents(),
    trace: beginTrace(dependencies, wish),
    attemptFloor: 0,
    conflicts: 0,
    watched: new Map(),
    stale: false,
    initPoll: undefined,
    lastWords: new Map(),
  };
}

function beginTrace(dependencies: StepDependencies, { pod, times }: NewWorker): PodTrace {
  const { tracer, record, preciseNow } = dependencies;
  const trace = createPodTrace({
    tracer,
    record,
    now: preciseNow,
    random: randomBytes,
    name: `pod ${podName(pod)}`,
    startedAt: times.causedAt,
  });
  trace.past('source', times.causedAt, times.mergedAt);
  trace.past('merge', times.mergedAt, times.arrivedAt);
  return trace;
}

/** Enough of a pod to take it down: what was written on its sandboxes and containers. */
export function orphanPod(marks: PodMarks): Pod {
  const annotations = marks.source === undefined ? {} : { [localAnnotations.source]: marks.source };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: marks.name, namespace: marks.namespace, uid: marks.uid, labels: {}, annotations },
    spec: { ...emptySpec, terminationGracePeriodSeconds: marks.graceSeconds ?? defaultGraceSeconds },
    status: {
      phase: 'Unknown',
      conditions: [],
      podIPs: [],
      initContainerStatuses: [],
      containerStatuses: [],
    },
  };
}

/** The API's. */
const defaultGraceSeconds = 30;

const emptySpec: PodSpec = {
  terminationGracePeriodSeconds: defaultGraceSeconds,
  containers: [],
  initContainers: [],
  volumes: [],
  restartPolicy: 'Never',
  dnsPolicy: 'Default',
  hostAliases: [],
  hostNetwork: false,
  hostPID: false,
  hostIPC: false,
  shareProcessNamespace: false,
  nodeName: '',
  securityContext: {},
  imagePullSecrets: [],
};
