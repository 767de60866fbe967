/** Writes what became of pods back to the API server, and deletes the objects of pods that have ended as asked. */
import { describeError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { Clock } from '../contract.js';
import { isOwnCondition } from '../lifecycle/conditions.js';
import {
  type ContainerState,
  type ContainerStatus,
  type Pod,
  type PodCondition,
  podName,
  type PodStatus,
} from '@podwire/pod-spec';
import { isAboutAnother, type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';

export interface StatusWriter {
  /** Only the latest status of a pod counts; it is written in the background and tried again until it is there. */
  statusChanged(pod: Pod, status: PodStatus): void;
  /** Nothing of the pod is left on this node: its object may go, if that was asked for. */
  terminated(pod: Pod): void;
  close(): Promise<void>;
}

export interface StatusWriterOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly onTrouble: (message: string) => void;
  /** The server does not take the status of this pod, or takes it again: then there is no message. */
  readonly onRefusal?: (pod: Pod, message: string | undefined) => void;
  /** The API has container ids with the runtime's name before them: `containerd://…`. */
  readonly runtimeName: string;
  /** How many pods are written at once; 4 when absent. */
  readonly width?: number;
}

interface Pending {
  pod: Pod;
  status?: PodStatus;
  remove: boolean;
  /** Milliseconds to wait before the next attempt. */
  pause: number;
}

const firstPause = 200;
const longestPause = 30_000;

export function createStatusWriter(options: StatusWriterOptions): StatusWriter {
  const queue = new StatusQueue(options);
  return {
    statusChanged: (pod, status) => queue.add({ pod, status, remove: false, pause: firstPause }),
    terminated: (pod) =>
      queue.add({ pod, remove: pod.metadata.deletionTimestamp !== undefined, pause: firstPause }),
    close: () => queue.close(),
  };
}

class StatusQueue {
  readonly #options: StatusWriterOptions;
  readonly #stop = new AbortController();
  readonly #pending = new Map<string, Pending>();
  readonly #busy = new Map<string, Promise<void>>();
  /** Refused as a whole, waiting without blocking others. */
  readonly #resting = new Map<string, Promise<void>>();
  /** Written without what the server refuses: the whole is tried again now and then, and with each new status. */
  readonly #partial = new Map<string, Pending>();
  readonly #retries = new Map<string, Promise<void>>();
  readonly #refused = new Set<string>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  add(job: Pending): void {
    const { uid } = job.pod.metadata;
    this.#pending.set(uid, mergeJobs(this.#pending.get(uid), job));
    this.#pump();
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the status writer stops'));
    await Promise.all([this.#busy, this.#resting, this.#retries].flatMap((each) => [...each.values()]));
  }

  #pump(): void {
    const { width = 4 } = this.#options;
    for (const [uid, job] of this.#pending) {
      if (this.#busy.size >= width || this.#stop.signal.aborted) return;
      if (this.#busy.has(uid) || this.#resting.has(uid)) continue;
      this.#pending.delete(uid);
      this.#partial.delete(uid);
      const done = this.#write(uid, job).finally(() => {
        this.#busy.delete(uid);
        this.#pump();
      });
      this.#busy.set(uid, done);
    }
  }

  async #write(uid: string, job: Pending): Promise<void> {
    try {
      const refusal = await carryOut(this.#options, job, this.#stop.signal);
      if (refusal === undefined) this.#noteTaken(job.pod);
      else this.#retryPart(uid, job, refusal);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const rested = this.#rest(uid, job);
      if (isRefusal(error)) {
        this.#resting.set(uid, rested);
        this.#noteRefusal(job.pod, error);
        return;
      }
      this.#reportTrouble(job.pod, error);
      // All are waiting for the server then, and not all of them have to ask for it.
      await rested;
    }
  }

  async #rest(uid: string, job: Pending): Promise<void> {
    await this.#options.clock.sleep(job.pause, this.#stop.signal).catch(() => undefined);
    this.#resting.delete(uid);
    const newer = this.#pending.get(uid);
    this.#pending.set(uid, mergeJobs({ ...job, pause: Math.min(job.pause * 2, longestPause) }, newer));
    this.#pump();
  }

  #retryPart(uid: string, job: Pending, refusal: KubernetesError): void {
    this.#noteRefusal(job.pod, refusal);
    this.#partial.set(uid, job);
    if (!this.#retries.has(uid)) this.#retries.set(uid, this.#retryLater(uid));
  }

  async #retryLater(uid: string): Promise<void> {
    await this.#options.clock.sleep(longestPause, this.#stop.signal).catch(() => undefined);
    this.#retries.delete(uid);
    const job = this.#partial.get(uid);
    // A newer status is about to try it by itself.
    if (job !== undefined && !this.#pending.has(uid)) this.add(job);
  }

  #noteRefusal(pod: Pod, error: unknown): void {
    this.#reportTrouble(pod, error);
    this.#refused.add(pod.metadata.uid);
    this.#options.onRefusal?.(pod, describeError(error));
  }

  #noteTaken(pod: Pod): void {
    if (this.#refused.delete(pod.metadata.uid)) this.#options.onRefusal?.(pod, undefined);
  }

  #reportTrouble(pod: Pod, error: unknown): void {
    this.#options.onTrouble(
      `the status of pod ${podName(pod)} could not be written: ${describeError(error)}`,
    );
  }
}

/** True if the server refuses this pod only. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof KubernetesError)) return false;
  return error.status < 500 && ![401, 403, 429].includes(error.status);
}

function mergeJobs(older: Pending | undefined, newer: Pending | undefined): Pending {
  if (older === undefined || newer === undefined) return (older ?? newer)!;
  const status = newer.status ?? older.status;
  return {
    ...newer,
    ...compact({ status }),
    remove: older.remove || newer.remove,
    pause: older.pause,
  };
}

/** @returns what the server said of fields that it has refused; all else is done. @throws any other error */
async function carryOut(
  options: StatusWriterOptions,
  { pod, status, remove }: Pending,
  signal: AbortSignal,
): Promise<KubernetesError | undefined> {
  try {
    const refusal = status === undefined ? undefined : await writeStatus(options, pod, status, signal);
    // A status that is refused is no reason to keep the object of a pod that is gone.
    if (!remove) return refusal;
    const body = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
    await options.client.request('DELETE', objectOf(pod), { signal, body });
    return undefined;
  } catch (error) {
    // Gone, or a new pod of that name: either way there is nothing to be written any more.
    if (isAboutAnother(error)) return undefined;
    throw error;
  }
}

function objectOf({ metadata: { namespace, name } }: Pod): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}

/** @returns as {@link carryOut} */
async function writeStatus(
  { client, runtimeName }: Pick<StatusWriterOptions, 'client' | 'runtimeName'>,
  pod: Pod,
  status: PodStatus,
  signal: AbortSignal,
): Promise<KubernetesError | undefined> {
  // The uid in the patch has it refused when another pod has the name by now.
  const { uid } = pod.metadata;
  const patch = (kind: 'merge' | 'strategic-merge', part: object): Promise<unknown> =>
    client.request('PATCH', `${objectOf(pod)}/status`, {
      signal,
      body: { metadata: { uid }, status: part },
      contentType: `application/${kind}-patch+json`,
    });
  const { conditions, ...rest } = toApi(status, runtimeName);
  const whole = hasGates(pod) ? rest : { ...rest, conditions };
  const refusal = await writeAccepted(whole, (part) => patch('merge', part));
  if (hasGates(pod)) await patch('strategic-merge', { conditions: ownOf(conditions) });
  return refusal;
}

/**
 * One field that the server does not take would keep it from all others, and the pod Pending for ever: those are written without it.
 * @returns as {@link carryOut}
 */
async function writeAccepted(
  status: Readonly<Record<string, unknown>>,
  patch: (part: object) => Promise<unknown>,
): Promise<KubernetesError | undefined> {
  try {
    await patch(status);
    return undefined;
  } catch (error) {
    const names = namesOfRefused(error);
    if (names.length === 0) throw error;
    await patch(Object.fromEntries(Object.entries(status).filter(([name]) => !names.includes(name))));
    return error as KubernetesError;
  }
}

/** Fields of a status that are of no use without one another. */
const together: Readonly<Record<string, readonly string[]>> = {
  podIP: ['podIP', 'podIPs'],
  podIPs: ['podIP', 'podIPs'],
};

/** The API has them in its message: `status.podIPs: Invalid value: …`. */
function namesOfRefused(error: unknown): readonly string[] {
  if (!(error instanceof KubernetesError) || error.status !== 422 || isAboutAnother(error)) return [];
  const names = [...error.message.matchAll(/\bstatus\.(\w+)/g)].map(([, name = '']) => name);
  return names.flatMap((name) => together[name] ?? [name]);
}

/** Conditions that another controller sets, perhaps only once. */
function hasGates({ spec: { readinessGates = [] } }: Pod): boolean {
  return readinessGates.length > 0;
}

/**
 * For a strategic merge patch, which merges conditions by their type: those of others are left out, since what is known of them here
 * may be older than what they have written meanwhile. What a condition has no more is taken away.
 */
function ownOf(conditions: readonly PodCondition[]): readonly object[] {
  return conditions
    .filter(({ type }) => isOwnCondition(type))
    .map(({ reason, message, ...rest }) => ({ ...rest, reason: reason ?? null, message: message ?? null }));
}

/** A merge patch replaces lists whole and removes what is null. */
function toApi(
  status: PodStatus,
  runtimeName: string,
): { readonly conditions: readonly PodCondition[]; readonly [further: string]: unknown } {
  const { reason, message, podIP, hostIP, initContainerStatuses, containerStatuses, ...rest } = status;
  const named = (each: ContainerStatus): ContainerStatus => nameIds(each, runtimeName);
  return {
    ...rest,
    initContainerStatuses: initContainerStatuses.map(named),
    containerStatuses: containerStatuses.map(named),
    reason: reason ?? null,
    message: message ?? null,
    podIP: podIP ?? null,
    hostIP: hostIP ?? null,
  };
}

function nameIds(status: ContainerStatus, runtimeName: string): ContainerStatus {
  // Ids from the API's object have it already.
  const named = (id: string): string => (id === '' || id.includes('://') ? id : `${runtimeName}://${id}`);
  const nameState = (state: ContainerState): ContainerState => {
    const id = state.terminated?.containerID;
    return id === undefined
      ? state
      : { ...state, terminated: { ...state.terminated!, containerID: named(id) } };
  };
  return {
    ...status,
    containerID: named(status.containerID),
    state: nameState(status.state),
    lastState: nameState(status.lastState),
  };
}
