/** The context of the steps of a pod's sync. Each file of this directory names the part that it needs. */
import type { CallOptions, CriRuntime } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import type { Log as PodletLog, Semaphore } from '@podwire/platform';
import type { Pod, PodStatus } from '@podwire/pod-spec';
import { formatTraceparent, type OpenSpan } from '@podwire/tracing';
import type { Refusal } from '../admission/index.js';
import type { Clock, PodEvent, PodEventType, PodletDirectories, PodletNode } from '../contract.js';
import type { RunHook } from '../hooks/index.js';
import type { ContainerLogs } from '../logs/index.js';
import type {
  BuildContainerConfig,
  BuildSandboxConfig,
  EnsureImage,
  PodPreparation,
  Prober,
} from '../parts.js';
import type { RuntimeHealth } from '../runtime/runtime-health.js';
import type { RuntimeView } from '../runtime/runtime-view.js';
import type { LoopSettings } from '../settings.js';
import type { WorkerState } from '../workers/worker-state.js';

export type { PodletLog };

/** Between any two steps; a test ends the process there. Names are the same in every run of the same pod. */
export interface PodletFaults {
  at(step: string): void;
}

export const noFaults: PodletFaults = { at: () => undefined };

/** Notified of every change; used to write to the API. It is not awaited and must not throw. */
export interface StatusSink {
  statusChanged(pod: Pod, status: PodStatus): void;
  /** Nothing of the pod is left on this node: its API object may be deleted. */
  terminated(pod: Pod, status: PodStatus): void;
  event(pod: Pod, event: PodEvent): void;
}

export const noSink: StatusSink = {
  statusChanged: () => undefined,
  terminated: () => undefined,
  event: () => undefined,
};

/** The pod of this sync, what the runtime has of it, and how it is reported. */
export interface PodScope {
  readonly worker: WorkerState;
  readonly signal: AbortSignal;
  readonly view: RuntimeView;
  readonly recordEvent: (type: PodEventType, reason: string, message: string) => void;
  /** Stage, waiting reasons or observation have changed. */
  readonly updateStatus: () => void;
}

export interface CallContext {
  readonly worker: Pick<WorkerState, 'trace'>;
  readonly signal: AbortSignal;
  readonly faults: PodletFaults;
  readonly settings: Pick<LoopSettings, 'callTimeoutMs'>;
}

export interface StopContext extends PodScope, CallContext {
  readonly worker: WorkerState;
  readonly runtime: CriRuntime;
  readonly clock: Clock;
  readonly node: Pick<PodletNode, 'addresses'>;
  readonly prober: Prober;
  readonly runHook: RunHook;
  readonly containerLogs?: ContainerLogs;
}

export interface SandboxContext extends PodScope, CallContext {
  readonly worker: WorkerState;
  readonly runtime: CriRuntime;
  readonly settings: Pick<LoopSettings, 'callTimeoutMs' | 'runSandboxTimeoutMs'>;
  readonly node: PodletNode;
  readonly directories: PodletDirectories;
  readonly buildSandboxConfig: BuildSandboxConfig;
  /** Limits RunPodSandbox calls. */
  readonly sandboxes: Semaphore;
  /** Why pods cannot get a network now. */
  readonly networkProblem: () => string | undefined;
}

export interface ImageContext extends PodScope, CallContext {
  readonly worker: WorkerState;
  readonly runtime: CriRuntime;
  readonly settings: Pick<LoopSettings, 'callTimeoutMs' | 'syncMs'>;
  readonly clock: Clock;
  readonly ensureImage: EnsureImage;
}

export interface StartContext extends ImageContext, StopContext {
  readonly worker: WorkerState;
  readonly settings: LoopSettings;
  readonly node: PodletNode;
  readonly directories: PodletDirectories;
  readonly preparation: PodPreparation;
  readonly buildContainerConfig: BuildContainerConfig;
  readonly features: RuntimeHealth['features'];
}

export interface TerminationMessageContext extends Pick<PodScope, 'worker' | 'view'> {
  readonly preparation: PodPreparation;
  /** The end of a container's log file; for terminationMessagePolicy FallbackToLogsOnError. */
  readonly readLogTail?: (logPath: string) => Promise<string>;
}

export interface InitPollContext extends Pick<PodScope, 'worker' | 'view' | 'signal'> {
  readonly settings: Pick<LoopSettings, 'relistMs'>;
}

export interface ProbeWatchContext extends Pick<PodScope, 'worker' | 'view'> {
  readonly prober: Prober;
  readonly node: Pick<PodletNode, 'addresses'>;
}

export interface TerminateContext extends StopContext, TerminationMessageContext {
  readonly worker: WorkerState;
}

/** All of it: for the functions that call each of these steps. */
export interface SyncContext extends StartContext, SandboxContext, TerminateContext {
  readonly worker: WorkerState;
  readonly settings: LoopSettings;
  readonly node: PodletNode;
  /** @returns why the node does not take the pod */
  readonly admit: () => Refusal | undefined;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** The part of a context that is the same for all pods. */
export interface SyncDependencies extends Omit<SyncContext, keyof PodScope | 'admit'> {
  readonly view: RuntimeView;
  readonly log: PodletLog;
}

/** One CRI call: fault points before and after, a span of the pod's trace, a deadline. */
export async function callRuntime<T>(
  { faults, worker, signal, settings }: CallContext,
  name: string,
  run: (options: CallOptions) => Promise<T>,
  timeoutMs: number = settings.callTimeoutMs,
): Promise<T> {
  faults.at(`before ${name}`);
  const span = worker.trace.child(name);
  try {
    const result = await run({ signal, timeoutMs, ...traceparentOf(span) });
    faults.at(`after ${name}`);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

function traceparentOf(span: OpenSpan): { readonly traceparent?: string } {
  const traceparent = formatTraceparent(span.context);
  return traceparent === undefined ? {} : { traceparent };
}

/** A failure becomes an event as well, unless the sync was aborted. */
export async function withFailureEvent<T>(
  { signal, recordEvent }: Pick<PodScope, 'signal' | 'recordEvent'>,
  reason: string,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) recordEvent('Warning', reason, `${what}: ${describeError(error)}`);
    throw error;
  }
}

/** A pause, longer by up to a half, so that pods that failed together do not come back together. */
export function jittered(milliseconds: number, random: () => number): number {
  return Math.round(milliseconds * (1 + random() / 2));
}
