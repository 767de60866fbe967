/** The calls of RuntimeService that are about the runtime itself and about sandboxes. */
import {
  type CallOptions,
  CgroupDriver,
  CriError,
  matchesSandboxFilter,
  nowNanoseconds,
  PodSandboxState,
  type RuntimeService,
  StatusResponse,
} from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { parseTraceparent } from '@podwire/tracing';
import { readPod } from './containers/events.js';
import { inspectSandbox } from './containers/lookup.js';
import { collectPresent, readSandboxStats } from './containers/stats.js';
import { signalOf } from './call.js';
import type { SandboxContext } from './context.js';
import type { SandboxCall, Sandboxes } from './sandboxes/service.js';
import { listSandboxes, readSandboxStatus } from './sandboxes/status.js';

/** As the kubelet's client has it: a pod's images and plugins may be slow. */
const runTimeoutMs = 240_000;

type NodeCalls = Pick<RuntimeService, 'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig'>;

export function createNodeService({ docker, network, clock, cgroupDriver }: SandboxContext): NodeCalls {
  return {
    async version(_request, options) {
      const { Version } = await docker.version({ signal: signalOf(options) });
      return {
        version: '0.1.0',
        runtimeName: 'docker',
        runtimeVersion: Version,
        runtimeApiVersion: 'v1',
      };
    },
    async status({ verbose }, options) {
      const engine = await docker.version({ signal: signalOf(options) }).then(
        () => ({ status: true, reason: '', message: '' }),
        (error: unknown) => ({
          status: false,
          reason: 'DockerDaemonNotReady',
          message: describeError(error),
        }),
      );
      const { ready, reason, message } = network.status();
      const info = verbose
        ? { network: JSON.stringify(await network.explain()), at: String(clock.now()) }
        : {};
      return StatusResponse.fromPartial({
        status: {
          conditions: [
            { type: 'RuntimeReady', ...engine },
            { type: 'NetworkReady', status: ready, reason, message },
          ],
        },
        info,
        runtimeHandlers: [{ name: '', features: {} }],
      });
    },
    async runtimeConfig(_request, options) {
      const driver = await cgroupDriver(signalOf(options));
      return {
        linux: { cgroupDriver: driver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS },
      };
    },
    updateRuntimeConfig({ runtimeConfig }) {
      const cidrs = (runtimeConfig?.networkConfig?.podCidr ?? '').split(',').map((cidr) => cidr.trim());
      const given = cidrs.filter((cidr) => cidr !== '');
      if (given.length > 0) network.setPodCidrs(given);
      return Promise.resolve({});
    },
  };
}

type SandboxCalls = Pick<
  RuntimeService,
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'podSandboxStats'
  | 'listPodSandboxStats'
>;

export function createSandboxCalls(context: SandboxContext, sandboxes: Sandboxes): SandboxCalls {
  const { clock } = context;
  return {
    async runPodSandbox({ config, runtimeHandler }, options) {
      if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
      const patient = { timeoutMs: runTimeoutMs, ...options };
      const runtime = await findRuntime(context, runtimeHandler, signalOf(options));
      const podSandboxId = await sandboxes.run(config, runtime, toCall(patient));
      return { podSandboxId };
    },
    async stopPodSandbox({ podSandboxId }, options) {
      await sandboxes.stop(podSandboxId, toCall(options));
      return {};
    },
    async removePodSandbox({ podSandboxId }, options) {
      await sandboxes.remove(podSandboxId, toCall(options));
      return {};
    },
    async podSandboxStatus({ podSandboxId, verbose }, options) {
      const signal = signalOf(options);
      const status = await readSandboxStatus(context, podSandboxId, signal);
      const found = verbose ? await inspectSandbox(context, status.id, signal) : undefined;
      return {
        status,
        info: found === undefined ? {} : { info: JSON.stringify(found) },
        containersStatuses: (await readPod(context, status.id, signal)).containersStatuses,
        timestamp: nowNanoseconds(clock),
      };
    },
    async listPodSandbox({ filter }, options) {
      return {
        items: await listSandboxes(context, filter, signalOf(options)),
      };
    },
    async podSandboxStats({ podSandboxId }, options) {
      const signal = signalOf(options);
      const status = await readSandboxStatus(context, podSandboxId, signal);
      return { stats: await readSandboxStats(context, status, signal) };
    },
    async listPodSandboxStats({ filter }, options) {
      const signal = signalOf(options);
      const ready = { id: '', state: { state: PodSandboxState.SANDBOX_READY }, labelSelector: {}, ...filter };
      const listed = (await listSandboxes(context, ready, signal)).filter((one) =>
        matchesSandboxFilter(one, ready),
      );
      const stats = await collectPresent(
        listed.map(async ({ id }) =>
          readSandboxStats(context, await readSandboxStatus(context, id, signal), signal),
        ),
      );
      return { stats };
    },
  };
}

function toCall(options: CallOptions | undefined): SandboxCall {
  return { signal: signalOf(options), parent: parseTraceparent(options?.traceparent) };
}

/** Empty and `docker` are Docker's default; anything else must be a runtime that the engine knows. */
async function findRuntime(
  { docker }: SandboxContext,
  handler: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (handler === '' || handler === 'docker') return undefined;
  const { Runtimes } = await docker.info({ signal });
  if (Runtimes?.[handler] !== undefined) return handler;
  const known = Object.keys(Runtimes ?? {}).join(', ');
  throw new CriError(
    'INVALID_ARGUMENT',
    `RuntimeHandler ${JSON.stringify(handler)} is unknown; Docker has ${known}`,
  );
}
