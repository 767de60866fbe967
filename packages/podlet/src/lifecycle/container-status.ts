import type { Container, ContainerState, ContainerStatus, Pod, PodStatus } from '@podwire/pod-spec';
import { type ContainerFacts, type ContainerRole, hasStarted, restarts, roleOf } from './container-plan.js';
import { isInitialised, isPassed } from './init-plan.js';
import { newestInSandbox, newestInstance, type ObservedContainer, type ObservedPod } from './observed.js';

export interface Waiting {
  /** `ContainerCreating`, `CrashLoopBackOff`, `ErrImagePull` … */
  readonly reason: string;
  readonly message?: string;
}

export interface StatusFacts extends ContainerFacts {
  /** Why containers are not started (yet), by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Termination messages of ended containers, by id; they precede the runtime's message. */
  readonly terminationMessages?: ReadonlyMap<string, string>;
  /** The pod has failed whatever its containers do: not admitted, or hopeless. */
  readonly failure?: Waiting;
  readonly previous?: PodStatus;
}

interface Subject {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly container: Container;
  readonly role: ContainerRole;
  readonly facts: StatusFacts;
}

/** RFC 3339 without fractions, as the API has its times. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

export function initContainerStatuses(
  pod: Pod,
  observed: ObservedPod,
  facts: StatusFacts,
): ContainerStatus[] {
  return pod.spec.initContainers.map((container) =>
    describe({ pod, observed, container, role: roleOf(container, true), facts }),
  );
}

export function containerStatuses(pod: Pod, observed: ObservedPod, facts: StatusFacts): ContainerStatus[] {
  return pod.spec.containers.map((container) =>
    describe({ pod, observed, container, role: 'normal', facts }),
  );
}

function describe(subject: Subject): ContainerStatus {
  const { container, observed, facts, role } = subject;
  const newest = newestInstance(observed, container.name);
  const before = previousStatus(subject);
  const state = currentState(subject, newest, before);
  const started = hasStarted(container, newest, facts);
  return {
    name: container.name,
    state,
    lastState: lastState(subject, state, newest, before),
    ready: role === 'init' ? hasSucceeded(state) : started && isReady(container, facts),
    started,
    restartCount: Math.max(newest?.attempt ?? 0, before?.restartCount ?? 0),
    image: newest?.image === undefined || newest.image === '' ? container.image : newest.image,
    imageID: newest?.imageRef ?? before?.imageID ?? '',
    containerID: newest?.id ?? before?.containerID ?? '',
  };
}

const hasSucceeded = ({ terminated }: ContainerState): boolean => terminated?.exitCode === 0;

function isReady(container: Container, facts: ContainerFacts): boolean {
  return container.readinessProbe === undefined || facts.probeResult(container.name, 'readiness') === true;
}

function previousStatus({ container, role, facts }: Subject): ContainerStatus | undefined {
  const all = role === 'normal' ? facts.previous?.containerStatuses : facts.previous?.initContainerStatuses;
  return all?.find((status) => status.name === container.name);
}

function currentState(
  subject: Subject,
  newest: ObservedContainer | undefined,
  before: ContainerStatus | undefined,
): ContainerState {
  const told = subject.facts.waiting.get(subject.container.name);
  if (newest === undefined) return absentState(subject, told, before);
  if (newest.state === 'running') return { running: { startedAt: formatTime(newest.startedAt) } };
  const isInterrupted = subject.facts.interrupted?.has(subject.container.name) === true;
  if (newest.state === 'created' || isInterrupted)
    return { waiting: told ?? { reason: 'ContainerCreating' } };
  const again = newest.state === 'unknown' || isToRestart(subject, newest);
  return told !== undefined && again ? { waiting: told } : terminated(newest, subject.facts);
}

/** One that was removed behind our back after it had ended stays ended. */
function absentState(
  subject: Subject,
  told: Waiting | undefined,
  before: ContainerStatus | undefined,
): ContainerState {
  if (told !== undefined) return { waiting: told };
  if (before?.state.terminated !== undefined) return before.state;
  const failure = subject.facts.failure ?? failureBefore(subject.facts.previous);
  if (failure !== undefined) return { waiting: { reason: failure.reason } };
  const sandbox = subject.observed.sandboxes[0];
  if (sandbox !== undefined && isGoneAfterSuccess(subject, sandbox.id)) return goneAfterSuccess;
  // Of an init container that has not begun, too: kubectl then shows how many are over, Init:0/2.
  const initialising =
    subject.pod.spec.initContainers.length > 0 &&
    (sandbox === undefined || !isInitialised(subject.pod, subject.observed, sandbox.id));
  return { waiting: { reason: initialising ? 'PodInitializing' : 'ContainerCreating' } };
}

/** A pod agent that begins finds the reason in the API. */
const failureBefore = (previous: PodStatus | undefined): Waiting | undefined =>
  previous?.phase === 'Failed' && previous.reason !== undefined ? { reason: previous.reason } : undefined;

/** The runtime has lost its record, but what comes after it has begun. */
function isGoneAfterSuccess({ role, pod, observed, container }: Subject, sandboxId: string): boolean {
  return role === 'init' && isPassed(pod, observed, sandboxId, container.name);
}

const goneAfterSuccess: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Its record is gone from the runtime. It had succeeded, since the containers after it have begun.',
    containerID: '',
  },
};

function isToRestart(subject: Subject, newest: ObservedContainer): boolean {
  const { role, pod, observed } = subject;
  if (role === 'sidecar') return true;
  if (role === 'normal') return restarts(pod.spec.restartPolicy, newest.exitCode);
  const sandbox = observed.sandboxes[0];
  const inNewest = sandbox !== undefined && newestInSandbox(observed, newest.name, sandbox.id) === newest;
  return !inNewest || (newest.exitCode !== 0 && pod.spec.restartPolicy !== 'Never');
}

function lastState(
  subject: Subject,
  state: ContainerState,
  newest: ObservedContainer | undefined,
  before: ContainerStatus | undefined,
): ContainerState {
  const ended = subject.observed.containers.find(
    (instance) =>
      instance.name === subject.container.name &&
      instance.state === 'exited' &&
      (instance !== newest || state.terminated === undefined),
  );
  if (ended !== undefined) return terminated(ended, subject.facts);
  return before?.lastState ?? {};
}

/** Kubernetes uses 137 for a container whose exit status is unknown. */
const exitCodeOfUnknown = 137;

function terminated(instance: ObservedContainer, facts: StatusFacts): ContainerState {
  const unknown = instance.state === 'unknown';
  const exitCode = unknown ? exitCodeOfUnknown : instance.exitCode;
  const message = facts.terminationMessages?.get(instance.id) || instance.message;
  const said = instance.reason === '' ? reasonOf(exitCode) : instance.reason;
  return {
    terminated: {
      exitCode,
      reason: unknown ? 'ContainerStatusUnknown' : said,
      ...(message === '' ? {} : { message }),
      ...(instance.startedAt > 0 ? { startedAt: formatTime(instance.startedAt) } : {}),
      ...(instance.finishedAt > 0 ? { finishedAt: formatTime(instance.finishedAt) } : {}),
      containerID: instance.id,
    },
  };
}

function reasonOf(exitCode: number): string {
  return exitCode === 0 ? 'Completed' : 'Error';
}
