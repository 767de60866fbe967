/** The interface's methods, each handed to the room that does it. */
import {
  type CallOptions,
  type CriRuntime,
  CriError,
  matchesContainerFilter,
  matchesSandboxFilter,
  type MethodName,
  validateRequest,
  nowNanoseconds,
} from '@podwire/cri';
import type { StreamingServer } from '@podwire/cri-streaming';
import { parseTraceparent, withSpan } from '@podwire/tracing';
import { createContainer } from './container/create.js';
import { reopenLog } from './container/log.js';
import { removeContainer } from './container/remove.js';
import { startContainer } from './container/start.js';
import { showContainer, statusOfContainer } from './container/status.js';
import { stopContainer } from './container/stop.js';
import type { Context, Work } from './context.js';
import { describeRuntime, describeVersion, usesCgroupfs } from './describe.js';
import { toCriError } from './failure.js';
import { imageCalls } from './images/calls.js';
import { runSandbox } from './sandbox/run.js';
import { showSandbox, statusOfSandbox } from './sandbox/status.js';
import { removeSandbox, stopSandbox } from './sandbox/stop.js';
import { containersOf, findSandbox, needContainer, needRunning, needSandbox } from './state/inventory.js';
import { statsOfContainer, statsOfSandbox } from './stats.js';
import { execSync } from './streams/exec-sync.js';

/** The URLs of a streaming server, which is started on first use. */
export type OpenStreaming = () => Promise<Pick<StreamingServer, `urlFor${string}` & keyof StreamingServer>>;

/** All methods; whatever goes wrong in one is a CriError. */
export function assembleRuntime(context: Context, openStreaming: OpenStreaming): CriRuntime {
  const calls: CriRuntime = {
    ...aboutItself(context),
    ...sandboxCalls(context),
    ...containerCalls(context),
    ...streamCalls(context, openStreaming),
    ...statsCalls(context),
    ...imageCalls(context),
    getContainerEvents: (_request, options) => context.events.listen(options?.signal),
  };
  const guarded = Object.entries(calls).map(([name, call]): [string, unknown] => [
    name,
    name === 'getContainerEvents' ? call : guard(context, name as MethodName, call as Call),
  ]);
  return Object.fromEntries(guarded) as unknown as CriRuntime;
}

type Call = (request: unknown, options?: CallOptions) => Promise<unknown>;

function guard(context: Context, name: MethodName, call: Call): Call {
  return async (request, options) => {
    try {
      if (context.closing.aborted) throw new CriError('UNAVAILABLE', 'the embedded runtime is closed');
      validateRequest(name, request);
      return await call(request, options);
    } catch (error) {
      throw toCriError(name, error);
    }
  };
}

type Part<Name extends MethodName> = Pick<CriRuntime, Name>;

function aboutItself(
  context: Context,
): Part<'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig' | 'updateContainerResources'> {
  return {
    version: () => Promise.resolve(describeVersion()),
    status: ({ verbose }) => describeRuntime(context, verbose),
    runtimeConfig: () => Promise.resolve(usesCgroupfs),
    updateRuntimeConfig: ({ runtimeConfig }) => {
      const ranges = (runtimeConfig?.networkConfig?.podCidr ?? '').split(',').filter((text) => text !== '');
      if (ranges.length > 0) context.network.setPodCidrs(ranges);
      return Promise.resolve({});
    },
    updateContainerResources: () =>
      Promise.reject(new CriError('UNIMPLEMENTED', 'the embedded runtime sets no limits')),
  };
}

function sandboxCalls(
  context: Context,
): Part<'runPodSandbox' | 'stopPodSandbox' | 'removePodSandbox' | 'podSandboxStatus' | 'listPodSandbox'> {
  const { inventory } = context;
  return {
    runPodSandbox: (request, options) =>
      inSpan(context, 'RunPodSandbox', options, async ({ span, ...work }) => {
        const podSandboxId = await runSandbox(context, request, options?.signal, (signal) => ({
          ...{ ...work, signal, span },
        }));
        span.set({ sandbox: podSandboxId });
        return { podSandboxId };
      }),
    stopPodSandbox: ({ podSandboxId }, options) =>
      inSpan(context, 'StopPodSandbox', options, async () => {
        await stopSandbox(context, podSandboxId, options?.signal);
        return {};
      }),
    removePodSandbox: async ({ podSandboxId }, options) => {
      await removeSandbox(context, podSandboxId, options?.signal);
      return {};
    },
    podSandboxStatus: ({ podSandboxId, verbose }) => {
      const entry = needSandbox(inventory, podSandboxId);
      const { netns = '' } = entry.record;
      const info = { holder: String(entry.pause?.process.pid ?? ''), netns, phase: entry.phase };
      return Promise.resolve({
        status: statusOfSandbox(entry),
        info: verbose ? info : {},
        containersStatuses: containersOf(inventory, entry.record.id).map((each) =>
          statusOfContainer(context, each),
        ),
        timestamp: nowNanoseconds(context.clock),
      });
    },
    listPodSandbox: ({ filter }) => {
      const visible = [...inventory.sandboxes.values()].filter((entry) => entry.phase !== 'creating');
      const items = visible.map(showSandbox).filter((item) => matchesSandboxFilter(item, filter));
      return Promise.resolve({ items });
    },
  };
}

function containerCalls(
  context: Context,
): Part<
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'reopenContainerLog'
> {
  const { inventory } = context;
  return {
    createContainer: (request) => Promise.resolve({ containerId: createContainer(context, request) }),
    startContainer: ({ containerId }, options) =>
      inSpan(context, 'StartContainer', options, async (work) => {
        await startContainer(context, containerId, work);
        return {};
      }),
    stopContainer: async ({ containerId, timeout }, options) => {
      await stopContainer(context, containerId, timeout, options?.signal);
      return {};
    },
    removeContainer: async ({ containerId }, options) => {
      await removeContainer(context, containerId, options?.signal);
      return {};
    },
    listContainers: ({ filter }) => {
      const all = [...inventory.containers.values()].map(showContainer);
      return Promise.resolve({ containers: all.filter((item) => matchesContainerFilter(item, filter)) });
    },
    containerStatus: ({ containerId, verbose }) => {
      const entry = needContainer(inventory, containerId);
      const info = { pid: String(entry.shim?.process.pid ?? ''), root: entry.record.root };
      return Promise.resolve({ status: statusOfContainer(context, entry), info: verbose ? info : {} });
    },
    reopenContainerLog: async ({ containerId }) => {
      await reopenLog(context, containerId);
      return {};
    },
  };
}

function streamCalls(
  context: Context,
  open: OpenStreaming,
): Part<'execSync' | 'exec' | 'attach' | 'portForward'> {
  const { inventory } = context;
  return {
    execSync: (request, options) => execSync(context, request, options?.signal),
    exec: async (request) => {
      const { id } = needRunning(inventory, request.containerId).record;
      return { url: (await open()).urlForExec({ ...request, containerId: id }) };
    },
    attach: async (request) => {
      const { id } = needRunning(inventory, request.containerId).record;
      return { url: (await open()).urlForAttach({ ...request, containerId: id }) };
    },
    portForward: async (request) => {
      const { id } = needSandbox(inventory, request.podSandboxId).record;
      return { url: (await open()).urlForPortForward({ ...request, podSandboxId: id }) };
    },
  };
}

function statsCalls(
  context: Context,
): Part<'containerStats' | 'listContainerStats' | 'podSandboxStats' | 'listPodSandboxStats'> {
  const { inventory } = context;
  return {
    containerStats: async ({ containerId }) => ({
      stats: await statsOfContainer(context, needContainer(inventory, containerId)),
    }),
    listContainerStats: async ({ filter }) => {
      const entries = [...inventory.containers.values()].filter((entry) =>
        matchesContainerFilter(showContainer(entry), filter && { ...filter, state: undefined }),
      );
      return { stats: await Promise.all(entries.map((entry) => statsOfContainer(context, entry))) };
    },
    podSandboxStats: async ({ podSandboxId }) => ({
      stats: await statsOfSandbox(context, needSandbox(inventory, podSandboxId)),
    }),
    listPodSandboxStats: async ({ filter }) => {
      const entries = [...inventory.sandboxes.values()].filter(
        (entry) =>
          findSandbox(inventory, entry.record.id) !== undefined &&
          matchesSandboxFilter(showSandbox(entry), filter && { ...filter, state: undefined }),
      );
      return { stats: await Promise.all(entries.map((entry) => statsOfSandbox(context, entry))) };
    },
  };
}

async function inSpan<T>(
  context: Context,
  name: string,
  options: CallOptions | undefined,
  work: (work: Work) => Promise<T>,
): Promise<T> {
  const span = context.tracer.start(name, parseTraceparent(options?.traceparent), { runtime: 'embedded' });
  const signal = options?.signal ?? new AbortController().signal;
  return withSpan(span, async () => work({ signal, span }));
}
