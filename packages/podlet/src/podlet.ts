import { setMaxListeners } from 'node:events';
import type { CriRuntime } from '@podwire/cri';
import { createPreciseClock, createSpanLog, createTracer, type Span, type SpanLog } from '@podwire/tracing';
import type {
  Clock,
  Merger,
  PodletDirectories,
  PodletNode,
  PodSource,
  PodUpdate,
  PodEventRecord,
  PodView,
  SourceName,
  SourceProblem,
} from './contract.js';
import {
  noFaults,
  noSink,
  type PodletFaults,
  type PodletLog,
  type StatusSink,
  type SyncDependencies,
} from './sync/sync-context.js';
import type { RunHook } from './hooks/index.js';
import type { ContainerLogs } from './logs/index.js';
import type { EarlierResult } from './lifecycle/earlier-results.js';
import { viewPod } from './sync/status-manager.js';
import { RuntimeHealth } from './runtime/runtime-health.js';
import { RuntimeView } from './runtime/runtime-view.js';
import { compact, Semaphore } from '@podwire/platform';
import { defaultSettings, type LoopSettings } from './settings.js';
import { createSyncLoop, type SyncLoop } from './sync-loop.js';
import { EventLog } from './workers/event-log.js';
import { PodWorkers } from './workers/pod-workers.js';
import type { TraceDependencies } from './workers/worker-state.js';
import type {
  BuildContainerConfig,
  BuildSandboxConfig,
  EnsureImage,
  PodPreparation,
  Prober,
  ProberOptions,
} from './parts.js';
import type { Pod } from '@podwire/pod-spec';
import type { PodChange } from './server/api.js';

export interface PodletConfig {
  readonly settings?: Partial<LoopSettings>;
  /** From checkpoints: they are there before any source speaks, and make none ready. */
  readonly restored?: readonly Pod[];
  /** Results of probes by uid that an earlier process has left; see `withProbeResults`. */
  readonly earlierResults?: ReadonlyMap<string, readonly EarlierResult[]>;
}

/** Everything the pod agent does not do itself. */
export interface PodletDependencies {
  readonly runtime: CriRuntime;
  readonly sources: readonly PodSource[];
  readonly merger: Merger;
  readonly preparation: PodPreparation;
  readonly buildSandboxConfig: BuildSandboxConfig;
  readonly buildContainerConfig: BuildContainerConfig;
  readonly ensureImage: EnsureImage;
  readonly runHook: RunHook;
  readonly createProber: (options: ProberOptions) => Prober;
  readonly node: PodletNode;
  readonly directories: PodletDirectories;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: PodletLog;
  readonly readLogTail?: (logPath: string) => Promise<string>;
  /** Rotation and links; when absent, logs are left to the runtime until their pod goes. */
  readonly containerLogs?: ContainerLogs;
  readonly collectImages?: (signal: AbortSignal) => Promise<void>;
  readonly faults?: PodletFaults;
  /** Told of every change of what is wanted, before it is acted on: for checkpoints. Must not throw. */
  readonly onUpdates?: (updates: readonly PodUpdate[]) => void;
  /** Told of status and events of every pod, whatever its source. */
  readonly sink?: StatusSink;
  /** Gets every finished span, for export. */
  readonly onSpan?: (span: Span) => void;
}

export interface Podlet {
  /** Lets go of everything. Pods keep running: the next podlet knows them by their labels. */
  stop(): Promise<void>;
  view(uid: string): PodView | undefined;
  pods(): readonly PodView[];
  problems(): readonly SourceProblem[];
  manifest(uid: string): Pod | undefined;
  /** Of all pods, the latest last, also of pods that have ended. */
  events(): readonly PodEventRecord[];
  /** Told of each that is there, and of each to come. @returns how to stop being told */
  subscribeEvents(listener: (event: PodEventRecord) => void): () => void;
  /** @returns how to stop being told. The first thing told is everything. */
  subscribe(listener: (change: PodChange) => void): () => void;
  /** Starts its containers anew, or one of them. A pod that has ended begins anew. */
  restart(uid: string, names: readonly string[]): void;
  /** Spans of the pod's trace: finished ones in the order of their ends; then, until the pod is ready, those that go on, so far. */
  trace(uid: string): readonly Span[];
  /** A span of another component within a pod's trace: the runtime, when it lives in this process. */
  record(span: Span): void;
  /** The API server does not take the status of a pod, or takes it again: then there is no message. */
  noteStatusRefusal(uid: string, message: string | undefined): void;
  /** Why nothing is begun now: the runtime does not answer, is not ready, was not listed. */
  problem(): string | undefined;
  networkProblem(): string | undefined;
  /** All sources have said once what they want. */
  isReady(source?: SourceName): boolean;
}

const keptTraces = { traces: 1_000, spansPerTrace: 200 };

/** Runs until `stop`. Nothing is thrown later on: what goes wrong is in the log, in events and in the status of pods. */
export function startPodlet(config: PodletConfig, dependencies: PodletDependencies): Podlet {
  const stop = new AbortController();
  // As many calls as there are things in the runtime may be under way at once.
  setMaxListeners(0, stop.signal);
  const spans = createSpanLog(keptTraces);
  const parts = assemble(config, dependencies, spans);
  const { workers, loop, view, health } = parts;
  if (config.restored !== undefined) loop.restore(config.restored);
  const running = loop.run(stop.signal);
  const viewOne = (uid: string) => {
    const worker = workers.get(uid);
    return worker === undefined || worker.orphan ? undefined : viewPod(worker, view);
  };
  return {
    async stop() {
      stop.abort(new Error('the pod agent is stopping'));
      await Promise.all([workers.close(), running]);
      await parts.prober.close();
    },
    view: viewOne,
    pods: () => listPods(workers, viewOne),
    problems: () => dependencies.merger.problems(),
    manifest: (uid) => workers.get(uid)?.pod,
    events: () => parts.events.list(),
    subscribeEvents: (listener) => parts.events.subscribe(listener),
    subscribe(listener) {
      listener({ kind: 'all', pods: listPods(workers, viewOne), problems: dependencies.merger.problems() });
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
    trace(uid) {
      const worker = workers.get(uid);
      if (worker === undefined) return [];
      const { trace, waits } = worker;
      return [...spans.get(trace.context.traceId), ...trace.soFar(waits.list())];
    },
    restart: (uid, names) => workers.restart(uid, names),
    record: (span) => spans.add(span),
    noteStatusRefusal: (uid, message) => workers.noteStatusRefusal(uid, message),
    problem: () => health.problem(),
    networkProblem: () => health.networkProblem(),
    isReady: (source) => (source === undefined ? loop.readiness.allReady() : loop.readiness.isReady(source)),
  };
}

function listPods(workers: PodWorkers, viewOne: (uid: string) => PodView | undefined): PodView[] {
  return [...workers.all()].flatMap(({ uid }) => viewOne(uid) ?? []);
}

type Listeners = Set<(change: PodChange) => void>;

function assemble(config: PodletConfig, dependencies: PodletDependencies, spans: SpanLog) {
  const settings: LoopSettings = { ...defaultSettings, ...config.settings };
  const { runtime, clock, node, random } = dependencies;
  const view = new RuntimeView({ runtime, node: node.name, ...settings });
  const listeners: Listeners = new Set();
  const tell = (change: PodChange) => {
    for (const listener of listeners) tellOne(listener, change, dependencies.log);
  };
  const events = new EventLog(() => clock.now());
  const health = new RuntimeHealth({ runtime, clock, settings, onChange: () => loop.resume() });
  const prober = dependencies.createProber({
    runtime,
    clock,
    random,
    onChange: (uid, container, kind, success, why) =>
      recordProbeResult(workers, { uid, container, kind, success, why }),
  });
  const shared = syncDependencies(dependencies, { settings, view, prober, health, spans });
  const workers: PodWorkers = new PodWorkers({
    dependencies: shared,
    sink: dependencies.sink ?? noSink,
    ...compact({ earlierResults: config.earlierResults }),
    mayRun: () => health.problem() === undefined,
    onChange: (worker) => {
      if (!worker.orphan && listeners.size > 0) tell({ kind: 'pod', pod: viewPod(worker, view) });
    },
    onEvent: ({ uid, pod }, event) => events.add({ ...pod.metadata, uid }, event),
    onGone: ({ uid, pod, orphan }) => {
      if (!orphan) tell({ kind: 'gone', uid, namespace: pod.metadata.namespace, name: pod.metadata.name });
    },
  });
  const loop: SyncLoop = createSyncLoop({
    sources: dependencies.sources,
    merger: dependencies.merger,
    workers,
    health,
    dependencies: shared,
    onProblems: (problems) => tell({ kind: 'problems', problems }),
    ...compact({ onUpdates: dependencies.onUpdates, collectImages: dependencies.collectImages }),
  });
  return { workers, loop, view, health, prober, listeners, events };
}

/** A listener that fails must not be a worker's trouble. */
function tellOne(listener: (change: PodChange) => void, change: PodChange, log: PodletLog): void {
  try {
    listener(change);
  } catch (error) {
    log.error({ err: error }, 'a listener to pod changes failed');
  }
}

interface ProbeChange {
  readonly uid: string;
  readonly container: string;
  readonly kind: string;
  readonly success: boolean;
  readonly why: string;
}

const probeNames: Readonly<Record<string, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

function recordProbeResult(workers: PodWorkers, { uid, container, kind, success, why }: ProbeChange): void {
  if (!success) {
    workers.recordEvent(
      uid,
      'Warning',
      'Unhealthy',
      `${probeNames[kind] ?? kind} probe of container ${container} failed: ${why}`,
    );
  }
  workers.enqueue(uid);
}

interface Assembled {
  readonly settings: LoopSettings;
  readonly view: SyncDependencies['view'];
  readonly prober: Prober;
  readonly health: Pick<RuntimeHealth, 'networkProblem' | 'features'>;
  readonly spans: SpanLog;
}

function syncDependencies(
  given: PodletDependencies,
  assembled: Assembled,
): SyncDependencies & TraceDependencies {
  const { clock } = given;
  const preciseNow = createPreciseClock(
    () => clock.now(),
    () => clock.elapsed(),
  );
  const record = (span: Span) => {
    assembled.spans.add(span);
    given.onSpan?.(span);
  };
  return {
    ...given,
    ...assembled,
    node: rememberAddresses(given.node, clock),
    faults: given.faults ?? noFaults,
    sandboxes: new Semaphore(assembled.settings.concurrentSandboxes),
    networkProblem: () => assembled.health.networkProblem(),
    features: (handler) => assembled.health.features(handler),
    tracer: createTracer({ now: preciseNow, elapsed: () => clock.elapsed(), onEnd: record }),
    record,
    preciseNow,
  };
}

const addressesAreGoodForMs = 5_000;

/** Every status has the node's addresses, and asking the machine takes the longer the more pods, and so links, it has. */
function rememberAddresses(node: PodletNode, clock: Clock): PodletNode {
  let known = { at: -Infinity, addresses: [] as readonly string[] };
  return Object.defineProperty({ ...node }, 'addresses', {
    enumerable: true,
    get: () => {
      const now = clock.elapsed();
      if (now - known.at > addressesAreGoodForMs) known = { at: now, addresses: node.addresses };
      return known.addresses;
    },
  });
}
