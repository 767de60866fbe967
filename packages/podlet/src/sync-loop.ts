import type { Clock, Merger, PodSource, PodUpdate, Snapshot, SourceName, SourceProblem } from './contract.js';
import type { Pod } from '@podwire/pod-spec';
import { pause, repeat } from '@podwire/platform';
import type { PodletLog, SyncDependencies } from './sync/sync-context.js';
import { adoptOrphans, discardDirectories, type Readiness } from './housekeeping.js';
import { isRunning, logOwners } from './runtime/log-owners.js';
import type { RuntimeHealth } from './runtime/runtime-health.js';
import type { ArrivalTimes, TraceDependencies } from './workers/worker-state.js';
import type { LoopSettings } from './settings.js';
import { watchRuntime } from './runtime/watch-runtime.js';
import type { PodWorkers } from './workers/pod-workers.js';

export interface SyncLoopOptions {
  readonly sources: readonly PodSource[];
  readonly merger: Merger;
  readonly workers: PodWorkers;
  readonly health: RuntimeHealth;
  readonly dependencies: SyncDependencies & Pick<TraceDependencies, 'preciseNow'>;
  readonly onProblems: (problems: readonly SourceProblem[]) => void;
  /** Told of every change of what is wanted, before it is acted on: for checkpoints. */
  readonly onUpdates?: (updates: readonly PodUpdate[]) => void;
  readonly collectImages?: (signal: AbortSignal) => Promise<void>;
}

export interface SyncLoop {
  run(signal: AbortSignal): Promise<void>;
  readonly readiness: Readiness;
  /** The runtime may be healthy again: workers that wait go on. */
  resume(): void;
  /** Pods of checkpoints, before the sources begin. */
  restore(pods: readonly Pod[]): void;
}

interface Loop extends SyncLoopOptions {
  readonly ready: Set<SourceName>;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly settings: LoopSettings;
  readonly log: PodletLog;
}

/** The channels and intervals of specification §1.3. Each is a loop of its own; what they touch is only touched between awaits. */
export function createSyncLoop(options: SyncLoopOptions): SyncLoop {
  const ready = new Set<SourceName>();
  const readiness: Readiness = {
    isReady: (source) => ready.has(source),
    allReady: () => options.sources.every(({ name }) => ready.has(name)),
  };
  const { clock, settings, log } = options.dependencies;
  const loop: Loop = { ...options, ready, readiness, clock, settings, log };
  return {
    readiness,
    resume: () => resume(loop),
    restore: (pods) => restore(loop, pods),
    run: (signal) => runLoop(loop, signal),
  };
}

function restore(loop: Loop, pods: readonly Pod[]): void {
  const now = loop.dependencies.preciseNow();
  const times = { causedAt: now, mergedAt: now, arrivedAt: now };
  for (const update of loop.merger.restore(pods)) applyUpdate(loop, update, times);
}

async function runLoop(loop: Loop, signal: AbortSignal): Promise<void> {
  const { clock, settings, workers, health } = loop;
  const { view, runtime, containerLogs } = loop.dependencies;
  const every = (milliseconds: number, work: () => Promise<void> | void) =>
    repeat(clock, () => milliseconds, signal, work);
  const watching = watchRuntime(
    {
      runtime,
      view,
      clock,
      settings,
      log: loop.log,
      isSyncing: (uid) => workers.isSyncing(uid),
      onChange: (uid) => workers.enqueue(uid),
      onRelisted: () => noteRelist(loop),
    },
    signal,
  );
  await Promise.all([
    ...loop.sources.map((source) => runSource(loop, source, signal)),
    watching,
    health.run(signal),
    every(settings.syncMs, () => workers.tick()),
    every(settings.housekeepingMs, () => runHousekeeping(loop)),
    every(settings.garbageMs, () => collect(loop, signal)),
    ...(containerLogs === undefined
      ? []
      : [every(settings.logRotationMs, () => containerLogs.rotate(logOwners(view, isRunning), signal))]),
  ]);
}

function noteRelist(loop: Loop): void {
  const wasClosed = loop.health.problem() !== undefined;
  loop.health.noteRelist();
  if (wasClosed) resume(loop);
}

/** Orphans first: other pods may wait for their names. */
function resume(loop: Loop): void {
  runHousekeeping(loop);
  loop.workers.wakeAll();
}

/** Adopts pods in the runtime that have no worker. */
function runHousekeeping({ health, dependencies, workers, readiness }: Loop): void {
  if (health.problem() === undefined) adoptOrphans(dependencies.view, workers, readiness);
}

async function collect(loop: Loop, signal: AbortSignal): Promise<void> {
  const { health, workers, dependencies, readiness, log } = loop;
  if (health.problem() !== undefined) return;
  workers.collectGarbage();
  await dependencies.containerLogs?.repairLinks(logOwners(dependencies.view));
  await discardDirectories({
    preparation: dependencies.preparation,
    view: dependencies.view,
    workers,
    readiness,
    log,
  });
  try {
    await loop.collectImages?.(signal);
  } catch (error) {
    log.warn({ err: error }, 'could not collect unused images');
  }
}

/** A source that fails is started again: it must not take the others with it. */
async function runSource(loop: Loop, source: PodSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await source.run((snapshot) => handleSnapshot(loop, source.name, snapshot), signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      loop.log.error({ source: source.name, err: error }, 'pod source failed, restarting it');
    }
    await pause(loop.clock, loop.settings.statusMs, signal);
  }
}

function handleSnapshot(loop: Loop, source: SourceName, snapshot: Snapshot): void {
  const { dependencies, merger } = loop;
  const mergedAt = dependencies.preciseNow();
  const updates = merger.merge(source, snapshot);
  loop.onProblems(merger.problems());
  const times = { causedAt: snapshot.causedAt ?? mergedAt, mergedAt, arrivedAt: dependencies.preciseNow() };
  loop.onUpdates?.(updates);
  // Removals are known before additions begin: the order is the merge's.
  for (const update of updates) applyUpdate(loop, update, times);
  runHousekeeping(loop);
}

function applyUpdate({ workers, ready }: Loop, update: PodUpdate, times: ArrivalTimes): void {
  if (update.sourceReady) ready.add(update.source);
  for (const pod of update.pods) {
    if (update.kind === 'REMOVE') workers.remove(pod.metadata.uid);
    else workers.update(pod, times, update.kind !== 'RECONCILE');
  }
}
