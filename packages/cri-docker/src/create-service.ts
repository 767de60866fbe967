/** Puts the sandbox service together. */
import crypto from 'node:crypto';
import fs from 'node:fs';
import type { CriRuntime } from '@podwire/cri';
import {
  createStreamingServer,
  type StreamingHandlers,
  type StreamingServerOptions,
} from '@podwire/cri-streaming';
import { type CheckpointFiles, warmThreadPool } from '@podwire/linux';
import type { PodNetwork } from '@podwire/pod-network';
import { noTracer, type Tracer } from '@podwire/tracing';
import { openCheckpoints } from './checkpoint/checkpoint.js';
import { never } from './call.js';
import { streamEvents } from './containers/events.js';
import { attachStreaming, execStreaming } from './containers/exec.js';
import { ContainerLogs } from './containers/logs/logs.js';
import { createLifecycleCalls, createObservationCalls } from './containers/service.js';
import type { SandboxContext } from './context.js';
import {
  type Clock,
  createOnDemand,
  deadlineSignal,
  type FaultPoints,
  KeyedMutex,
  type Log,
  noFaults,
  type OnDemand,
  pause,
  silentLog,
  succeeds,
  systemClock,
} from '@podwire/platform';
import { createCreationTimes } from './creation-times.js';
import { Docker } from './docker/index.js';
import { withCriErrors } from './errors.js';
import {
  type CredentialPlaces,
  type CredentialProvider,
  createCredentialStore,
} from './images/credential-files.js';
import { createImagePuller } from './images/pull.js';
import { createImageService } from './images/service.js';
import { createOwners } from './owners.js';
import { createNodeService, createSandboxCalls } from './runtime.js';
import { recoverSandboxes } from './sandboxes/recover.js';
import { Sandboxes } from './sandboxes/service.js';
import { forwardPort } from './streaming/port-forward.js';

export interface SandboxServiceOptions {
  /** Path of the engine's unix socket. */
  readonly docker: string;
  /** The directory of the checkpoints, which is also searched first for credentials. Its own, for one engine. */
  readonly root: string;
  /** Not closed with the service. */
  readonly network: PodNetwork;
  /**
   * Adopts running sandboxes that another service made: brings what is known of a sandbox's network to `network`, and says whether
   * there was anything. Absent: others' sandboxes are left alone.
   */
  readonly takeOver?: (sandboxId: string) => Promise<boolean>;
  /** `registry.k8s.io/pause:3.10` when absent. */
  readonly sandboxImage?: string;
  /** Docker's own when absent. */
  readonly cgroupDriver?: 'cgroupfs' | 'systemd';
  /** `/run/netns` when absent. */
  readonly netnsDirectory?: string;
  /** Milliseconds for a RunPodSandbox (4 minutes) and for the cleanup after one that failed (1 minute). */
  readonly runTimeoutMs?: number;
  readonly cleanupTimeoutMs?: number;
  /** The least oom_score_adj that can be set; found out when absent. */
  readonly leastOomScoreAdj?: number;
  readonly credentials?: Partial<CredentialPlaces> & { readonly providers?: readonly CredentialProvider[] };
  readonly streaming?: StreamingServerOptions;
  readonly clock?: Clock;
  /** So many random bytes. */
  readonly random?: (bytes: number) => Uint8Array;
  readonly log?: Log;
  readonly tracer?: Tracer;
  readonly faults?: FaultPoints;
  readonly checkpointFiles?: CheckpointFiles;
}

export interface SandboxService extends CriRuntime {
  readonly streamingHandlers: StreamingHandlers;
  /** How many pods are being worked on or waited for. */
  readonly heldLocks: number;
  /** Gives up what is being started, and ends. Sandboxes go on. */
  close(): Promise<void>;
}

/**
 * Starts the service. What was cut off by the end of an earlier one is taken down before this resolves; where the engine is
 * not there yet, that is done before the first sandbox is run.
 */
export async function createSandboxService(options: SandboxServiceOptions): Promise<SandboxService> {
  await warmThreadPool();
  const context = await createContext(options);
  const logs = new ContainerLogs(context);
  const sandboxes = new Sandboxes(context);
  const recovery = new Recovery(context, async (signal) => {
    const alive = await recoverSandboxes(context, options.takeOver, signal);
    await logs.resume(signal);
    context.log.info({ alive }, 'the sandboxes are recovered');
  });
  const handlers: StreamingHandlers = {
    exec: (id, argv, call) => execStreaming(context, id, argv, call),
    attach: (id, call) => attachStreaming(context, id, call),
    portForward: (id, port, stream, signal) => forwardPort(context, id, port, stream, signal),
  };
  // A gRPC server of this runtime may have a streaming server of its own, so this one starts on demand.
  const streaming = createOnDemand(() => createStreamingServer(handlers, options.streaming ?? {}));
  await recovery.begin();
  const sandboxCalls = createSandboxCalls(context, sandboxes);
  const calls: Omit<CriRuntime, 'getContainerEvents'> = {
    ...createNodeService(context),
    ...sandboxCalls,
    runPodSandbox: async (request, call) => {
      await recovery.attempt();
      return sandboxCalls.runPodSandbox(request, call);
    },
    ...createLifecycleCalls(context, logs),
    ...createObservationCalls(context, logs),
    ...createImageService(context),
    exec: async (request) => ({ url: (await streaming.get()).urlForExec(request) }),
    attach: async (request) => ({ url: (await streaming.get()).urlForAttach(request) }),
    portForward: async (request) => ({ url: (await streaming.get()).urlForPortForward(request) }),
  };
  return {
    ...withCriErrors(calls),
    getContainerEvents: (_request, call) => streamEvents(context, call?.signal ?? never),
    streamingHandlers: handlers,
    get heldLocks() {
      return context.locks.size;
    },
    close: () =>
      closeAll([{ close: async () => (await streaming.started())?.close() }, recovery, sandboxes, logs]),
  };
}

async function createContext(options: SandboxServiceOptions): Promise<SandboxContext> {
  const { root, network, clock = systemClock, log = silentLog, random = crypto.randomBytes } = options;
  const docker = new Docker(options.docker);
  const { providers = [], ...places } = options.credentials ?? {};
  const credentials = createCredentialStore({ preferred: root, ...places }, { clock, log, providers });
  const checkpoints = openCheckpoints(root, log, options.checkpointFiles);
  return {
    docker,
    network,
    images: createImagePuller({ docker, credentials, clock, log }),
    created: createCreationTimes(docker),
    checkpoints,
    owners: createOwners(root, await checkpoints.ids()),
    networkReady: new Map(),
    locks: new KeyedMutex(),
    settings: {
      sandboxImage: options.sandboxImage ?? 'registry.k8s.io/pause:3.10',
      netnsDirectory: options.netnsDirectory ?? '/run/netns',
      runTimeoutMs: options.runTimeoutMs ?? 240_000,
      cleanupTimeoutMs: options.cleanupTimeoutMs ?? 60_000,
      leastOomScoreAdj: options.leastOomScoreAdj ?? findLeastOomScoreAdj(),
    },
    cgroupDriver: createDriverQuestion(docker, options.cgroupDriver),
    clock,
    random,
    log,
    tracer: options.tracer ?? noTracer,
    faults: options.faults ?? noFaults,
  };
}

/** The engine is asked once; a daemon with another driver is another one in all respects. */
function createDriverQuestion(docker: Docker, given: string | undefined): SandboxContext['cgroupDriver'] {
  let known = given;
  return async (signal) => (known ??= (await docker.info({ signal })).CgroupDriver);
}

const CAP_SYS_RESOURCE = 24n;

/**
 * Without CAP_SYS_RESOURCE a process cannot go below its own value, and a container that asks for it is not started (runc says
 * so in no clear way). The engine is taken to have what this process has.
 */
function findLeastOomScoreAdj(): number {
  const [, effective = '0'] =
    /^CapEff:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8')) ?? [];
  if ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) return -1000;
  return Number(fs.readFileSync('/proc/self/oom_score_adj', 'utf8'));
}

/** Milliseconds between attempts while the engine is away. */
const recoveryPause = 1_000;

class Recovery {
  readonly #context: SandboxContext;
  readonly #over = new AbortController();
  readonly #recovered: OnDemand<void>;
  #background = Promise.resolve();

  constructor(context: SandboxContext, recover: (signal: AbortSignal) => Promise<void>) {
    this.#context = context;
    this.#recovered = createOnDemand(() =>
      recover(deadlineSignal(context.settings.cleanupTimeoutMs, this.#over.signal)),
    );
  }

  /** Tries it once, and goes on trying in the background while the engine cannot be asked. */
  async begin(): Promise<void> {
    if (await succeeds(this.attempt())) return;
    this.#context.log.warn({}, 'recovery waits until Docker Engine answers');
    this.#background = this.#retry();
  }

  /** Joins what is under way, or tries it now. Done once. */
  attempt(): Promise<void> {
    return this.#recovered.get();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#background;
    await this.#recovered.started();
  }

  async #retry(): Promise<void> {
    while (await pause(this.#context.clock, recoveryPause, this.#over.signal))
      if (await succeeds(this.attempt())) return;
  }
}

/** One after the other: what uses another goes before it. */
async function closeAll(parts: readonly { close(): Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.close();
}
