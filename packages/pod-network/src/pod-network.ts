import path from 'node:path';
import { CniError, createOperationLock, createRuntime, errorCodes, type Runtime } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { silentLog, readIfExistsSync } from '@podwire/platform';
import { noTracer } from '@podwire/tracing';
import type { PodNetwork } from './contract.js';
import { explainWatched } from './explain.js';
import { cachedAddresses } from './lifecycle/addresses.js';
import { collectGarbage } from './lifecycle/collect-garbage.js';
import type { Scope } from './lifecycle/context.js';
import { recover } from './lifecycle/recover.js';
import { setUpPod } from './lifecycle/set-up.js';
import { tearDownPod } from './lifecycle/tear-down.js';
import { type CallCounter, createCallLog, traceCalls } from './observe/calls.js';
import { describeFailures } from './observe/failure-text.js';
import { defaultPluginPath, type PodNetworkOptions, type PodNetworkSystem } from './options.js';
import { poll } from './poll.js';
import { createSandboxRecords } from './state/records.js';
import { completeSystem } from './system.js';
import { type Watched, watchReadiness } from './watched.js';

export interface RunningPodNetwork extends PodNetwork {
  /** Plugin calls since the start, VERSION and STATUS included. */
  readonly counters: () => readonly CallCounter[];
}

/**
 * Looks at the configuration, takes leftovers of earlier lives off the network, and then watches. Resolves whether or not there is
 * a network: `status` tells.
 */
export async function createPodNetwork(options: PodNetworkOptions): Promise<RunningPodNetwork> {
  const { log = silentLog, tracer = noTracer, probeTimeoutMs = 5_000 } = options;
  const system = completeSystem(options.system);
  const calls = createCallLog(log);
  const runtime = buildRuntime(options, system, calls.observer);
  const abort = new AbortController();
  const watched = watchReadiness(options, system, runtime, probeTimeoutMs, abort.signal);
  const scope: Scope = {
    runtime,
    records: createSandboxRecords(path.join(options.stateDirectory, 'sandboxes'), options.durable ?? true),
    gate: createOperationLock(),
    loopback: options.loopback ?? 'native',
    timeoutMs: options.timeoutMs ?? 220_000,
    // Empty when it cannot be told: then nothing is taken for stale.
    bootId: readIfExistsSync(system.bootIdFile)?.trim() ?? '',
    ...{ log, tracer, system },
    network: watched.network,
    podCidrs: watched.podCidrs,
    known: new Map(),
    leftovers: new Set(),
  };
  await watched.chooser.scan();
  await startRecovery(scope, options.recoveryMs ?? 30_000, abort.signal);
  const polling = poll(scope, watched, options.pollMs ?? 5_000, abort.signal);
  return {
    ...operations(scope, watched, abort.signal),
    explain: () => explainWatched(options, watched),
    counters: calls.counters,
    close: async () => {
      if (abort.signal.aborted) return;
      abort.abort(new CniError(errorCodes.tryAgainLater, 'the pod network is closed'));
      await watched.chooser.close();
      await polling;
      // Alone: when that is granted, all that was under way has come to its end.
      await scope.gate.exclusive(undefined, () => Promise.resolve());
    },
  };
}

function operations(
  scope: Scope,
  watched: Watched,
  closed: AbortSignal,
): Omit<PodNetwork, 'explain' | 'close'> {
  const open = (): void => {
    if (closed.aborted) throw new PodwireError('NETWORK_NOT_READY', 'the pod network is closed');
    watched.ask();
  };
  return {
    setUp: async (pod, call = {}) => {
      open();
      return setUpPod(scope, pod, call);
    },
    tearDown: async (pod, call = {}) => {
      open();
      return tearDownPod(scope, pod, call);
    },
    collectGarbage: async (live, call = {}) => {
      open();
      return collectGarbage(scope, live, watched.chooser.current()?.network, call);
    },
    addresses: async (sandboxId) => {
      const known = scope.known.get(sandboxId);
      if (known !== undefined) return known;
      const found = cachedAddresses(await scope.runtime.attachments(sandboxId));
      if (found !== undefined) scope.known.set(sandboxId, found);
      return found;
    },
    status: () => {
      watched.ask();
      return watched.status();
    },
    setPodCidrs: watched.setPodCidrs,
  };
}

function buildRuntime(
  options: PodNetworkOptions,
  { exec, clock }: PodNetworkSystem,
  observer: ReturnType<typeof createCallLog>['observer'],
): Runtime {
  // Contexts are passed on by the calls themselves: one for the process as a whole would belong to no pod.
  const { TRACEPARENT: _parent, TRACESTATE: _state, ...env } = options.env ?? process.env;
  return createRuntime({
    pluginPath: options.pluginPath ?? defaultPluginPath,
    cacheDir: path.join(options.stateDirectory, 'cache'),
    exec: traceCalls(exec, options.tracer ?? noTracer),
    timeoutMs: options.timeoutMs ?? 220_000,
    rollback: true,
    durable: options.durable ?? true,
    env,
    observer,
    now: () => clock.elapsed(),
  });
}

/** Waits for it, but not for ever: a plugin that hangs must not keep a node from starting. */
async function startRecovery(scope: Scope, limitMs: number, signal: AbortSignal): Promise<void> {
  const recovery = recover(scope, signal).catch((error: unknown) => {
    scope.log.warn({ reason: describeFailures([error]) }, 'could not look for leftovers');
  });
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([recovery, limit]);
  clearTimeout(timer);
}
