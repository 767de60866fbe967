import type { Refusal } from '../admission/index.js';
import type { PodStage, SourceName } from '../contract.js';
import { BackOff } from '../lifecycle/back-off.js';
import type { Waiting } from '../lifecycle/container-status.js';
import { type EarlierResult, readEarlierResults } from '../lifecycle/earlier-results.js';
import { localAnnotations, type Pod, podName, type PodSpec, type PodStatus } from '@podwire/pod-spec';
import { PodEvents } from './pod-events.js';
import { PodTrace } from './pod-trace.js';
import { PodWaits } from './pod-waits.js';
import { randomBytes } from 'node:crypto';
import type { Span, Tracer } from '@podwire/tracing';
import type { LoopSettings } from '../settings.js';
import { type PodLabels, readSource } from '../runtime/labels.js';

/** Why a pod is taken down. Once it is there it is never taken back. */
export interface KillRequest {
  readonly why: string;
  /** Overrides what the pod says. */
  readonly graceSeconds?: number;
}

/** Polling of a running init container; see `poll-init-container.ts`. */
export interface InitPoll {
  /** The container that is polled. */
  readonly id: string;
  /** Milliseconds before the next poll. */
  readonly pause: number;
}

/** Everything one worker knows. Only its own steps change it, but for what comes in from outside: see Inbox. */
export interface WorkerState extends Inbox {
  readonly uid: string;
  /** Only for pods that were found in the runtime and nowhere else; undefined when nothing says where from. */
  readonly source: SourceName | undefined;
  readonly orphan: boolean;
  stage: PodStage;
  status: PodStatus;
  /** Why containers are not started, by name. */
  readonly waiting: Map<string, Waiting>;
  /** Containers that a sync has stopped to start them again, until they are started. */
  readonly interrupted: Set<string>;
  /** Ids of running containers that people want to be started anew. */
  readonly restartAsked: Set<string>;
  /** `admitted` if the node takes it, or the reason why not. */
  admission: 'undecided' | 'admitted' | Refusal;
  /** Why it must not begin, though the node takes it. */
  blocked: Refusal | undefined;
  sandboxProblem: Waiting | undefined;
  failure: Waiting | undefined;
  readonly restarts: BackOff;
  /** By image. */
  readonly images: Map<string, ImageFailure>;
  readonly imagePauses: BackOff;
  readonly events: PodEvents;
  readonly trace: PodTrace;
  readonly waits: PodWaits;
  /** RunPodSandbox attempts below this number are taken by calls whose end is unknown. */
  attemptFloor: number;
  conflicts: number;
  /** It was taken down: nothing of it runs. */
  ended: boolean;
  /** Nothing of it is left in the runtime and on disk. */
  gone: boolean;
  /** Running containers whose probes were begun: name → id. */
  readonly watched: Map<string, string>;
  initPoll: InitPoll | undefined;
  /** Its pause is over: what no listing tells (addresses) is asked for anew. */
  stale: boolean;
  /** Termination messages of ended containers, by id. */
  readonly terminationMessages: Map<string, string>;
  /** Why the API server does not take its status. */
  statusRefusal: string | undefined;
  /** Of its containers, from before this process. */
  readonly earlierResults: readonly EarlierResult[];
}

/** The latest failed attempt to get an image. Milliseconds since the epoch. */
export interface ImageFailure {
  readonly at: number;
  readonly waiting: Waiting;
}

/** Input from outside: the newest pod wins, but a kill stays. */
export interface Inbox {
  pod: Pod;
  kill: KillRequest | undefined;
  /** No source wants it any more: forget it when it is terminated. */
  removed: boolean;
  /** The same UID is wanted again after a kill: begins when this one is terminated. */
  successor: Pod | undefined;
  /** When it was put in (the tracer's clock), until a step has begun. */
  arrivedAt: number | undefined;
}

/** How a pod got here. Milliseconds since the epoch, the clock of spans. */
export interface ArrivalTimes {
  readonly causedAt: number;
  readonly mergedAt: number;
  readonly arrivedAt: number;
}

/** Traces are made with the clock of spans. */
export interface TraceDependencies {
  readonly tracer: Tracer;
  readonly record: (span: Span) => void;
  /** Milliseconds since the epoch with a fraction. */
  readonly preciseNow: () => number;
}

interface WorkerDependencies extends TraceDependencies {
  readonly settings: Pick<LoopSettings, 'restartBackOff' | 'imageBackOff'>;
}

export interface NewWorker {
  readonly pod: Pod;
  readonly orphan: boolean;
  readonly times: ArrivalTimes;
  /** From the disk; the status of the pod may have more. */
  readonly earlierResults?: readonly EarlierResult[];
}

export function createWorkerState(dependencies: WorkerDependencies, request: NewWorker): WorkerState {
  const { settings } = dependencies;
  const { pod, times, orphan, earlierResults = [] } = request;
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
    restartAsked: new Set(),
    admission: 'undecided',
    blocked: undefined,
    sandboxProblem: undefined,
    failure: undefined,
    ended: false,
    gone: false,
    restarts: new BackOff(settings.restartBackOff),
    images: new Map(),
    imagePauses: new BackOff(settings.imageBackOff),
    events: new PodEvents(),
    trace: beginTrace(dependencies, request),
    waits: new PodWaits(),
    attemptFloor: 0,
    conflicts: 0,
    watched: new Map(),
    stale: false,
    initPoll: undefined,
    terminationMessages: new Map(),
    statusRefusal: undefined,
    earlierResults: [...earlierResults, ...readEarlierResults(pod.status)],
  };
}

function beginTrace(dependencies: TraceDependencies, { pod, times }: NewWorker): PodTrace {
  const { tracer, record, preciseNow } = dependencies;
  const trace = new PodTrace({
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
export function orphanPod(labels: PodLabels): Pod {
  const annotations = labels.source === undefined ? {} : { [localAnnotations.source]: labels.source };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: labels.name, namespace: labels.namespace, uid: labels.uid, labels: {}, annotations },
    spec: { ...emptySpec, terminationGracePeriodSeconds: labels.graceSeconds ?? defaultGraceSeconds },
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
