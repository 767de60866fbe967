import type { CriRuntime } from '@podwire/cri';
import type { Log as PodletLog } from '@podwire/platform';
import type { Span, Tracer } from '@podwire/tracing';
import type { Clock, PodEvent, PodletDirectories, PodletNode } from '../contract.js';
import type { RunHook } from '../hooks/index.js';
import type { ContainerLogs } from '../logs/index.js';
import type {
  BuildContainerConfig,
  BuildSandboxConfig,
  EnsureImage,
  PodPreparation,
  Prober,
} from '../parts.js';
import type { Pod, PodStatus } from '@podwire/pod-spec';
import type { RuntimeHealth } from './runtime-health.js';
import type { RuntimeView } from './runtime-view.js';
import type { Semaphore } from './semaphore.js';
import type { LoopSettings } from './settings.js';

export type { PodletLog };

/** Between any two steps; a test ends the process there. Names are the same in every run of the same pod. */
export interface PodletFaults {
  at(step: string): void;
}

export const noFaults: PodletFaults = { at: () => undefined };

/** Told of every change; used to write to the API. Nothing waits for it, and it must not throw. */
export interface StatusSink {
  statusChanged(pod: Pod, status: PodStatus): void;
  /** Nothing of the pod is left on this node: its API object may go. */
  terminated(pod: Pod, status: PodStatus): void;
  event(pod: Pod, event: PodEvent): void;
}

export const noSink: StatusSink = {
  statusChanged: () => undefined,
  terminated: () => undefined,
  event: () => undefined,
};

/** What steps of a worker have at hand. */
export interface StepDependencies {
  readonly runtime: CriRuntime;
  readonly view: RuntimeView;
  readonly preparation: PodPreparation;
  readonly buildSandboxConfig: BuildSandboxConfig;
  readonly buildContainerConfig: BuildContainerConfig;
  readonly ensureImage: EnsureImage;
  readonly runHook: RunHook;
  /** The end of a container's log file; for terminationMessagePolicy FallbackToLogsOnError. */
  readonly readLogTail?: (logPath: string) => Promise<string>;
  readonly containerLogs?: ContainerLogs;
  readonly prober: Prober;
  readonly node: PodletNode;
  readonly directories: PodletDirectories;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: PodletLog;
  readonly faults: PodletFaults;
  readonly settings: LoopSettings;
  readonly sandboxes: Semaphore;
  /** Why pods cannot get a network now. */
  readonly networkProblem: () => string | undefined;
  readonly features: RuntimeHealth['features'];
  readonly tracer: Tracer;
  readonly record: (span: Span) => void;
  /** Milliseconds since the epoch with a fraction: the clock of spans. */
  readonly preciseNow: () => number;
}
