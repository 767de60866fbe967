/** The container calls of RuntimeService. */
import {
  ContainerStatsResponse,
  ContainerStatusResponse,
  CreateContainerResponse,
  ExecSyncResponse,
  ListContainersResponse,
  ListContainerStatsResponse,
  matchesContainerFilter,
  ReopenContainerLogResponse,
  RemoveContainerResponse,
  type RuntimeService,
  StartContainerResponse,
  StopContainerResponse,
  UpdateContainerResourcesResponse,
} from '@podwire/cri';
import { parseTraceparent } from '@podwire/tracing';
import type { SandboxContext } from '../context.js';
import { never, signalOf } from '../signal.js';
import { makeResources } from './config.js';
import { toContainer, toContainerStatus } from './describe.js';
import { execSync } from './exec.js';
import { createWorkload, removeWorkload, startWorkload, stopWorkload } from './lifecycle.js';
import type { ContainerLogs } from './logs/logs.js';
import { inspectOwn, listOwn } from './lookup.js';
import { containerFilters } from './filters.js';
import { listContainerStats, readContainerStats } from './stats.js';
import { containerType, decodeLabels } from '../labels.js';

type ContainerCalls = Pick<
  RuntimeService,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'execSync'
  | 'containerStats'
  | 'listContainerStats'
>;

export function createContainerService(context: SandboxContext, logs: ContainerLogs): ContainerCalls {
  const { docker, tracer } = context;
  return {
    async createContainer(request, options) {
      const name = request.config?.metadata?.name ?? '';
      const span = tracer.start('CreateContainer', parseTraceparent(options?.traceparent), {
        container: name,
      });
      try {
        const containerId = await createWorkload(context, request, { signal: signalOf(options), span });
        span.end();
        return CreateContainerResponse.fromPartial({ containerId });
      } catch (error) {
        span.end(error);
        throw error;
      }
    },
    async startContainer({ containerId }, options) {
      const parent = parseTraceparent(options?.traceparent);
      const span = tracer.start('StartContainer', parent, { container: containerId });
      try {
        await startWorkload(context, logs, containerId, signalOf(options));
        span.end();
        return StartContainerResponse.fromPartial({});
      } catch (error) {
        span.end(error);
        throw error;
      }
    },
    async stopContainer({ containerId, timeout }, options) {
      const seconds = Number(timeout);
      await stopWorkload(context, containerId, seconds, signalOf(options, seconds * 1000));
      return StopContainerResponse.fromPartial({});
    },
    async removeContainer({ containerId }, options) {
      await removeWorkload(context, logs, containerId, signalOf(options));
      return RemoveContainerResponse.fromPartial({});
    },
    async listContainers({ filter }, options) {
      const signal = signalOf(options);
      const listed = await listOwn(context, containerFilters(filter), signal);
      const times = await context.created.of(listed, signal);
      const containers = listed
        .map((one) => toContainer(one, times.get(one.Id) ?? 0n))
        .filter((container) => matchesContainerFilter(container, filter));
      return ListContainersResponse.fromPartial({ containers });
    },
    async containerStatus({ containerId, verbose }, options) {
      const signal = signalOf(options);
      const found = await inspectOwn(context, containerId, signal);
      if (!found.State.Running) await logs.settle(found.Id);
      const image = await context.images.inspect(found.Image, signal);
      return ContainerStatusResponse.fromPartial({
        status: toContainerStatus(found, image),
        info: verbose ? { info: JSON.stringify(found) } : {},
      });
    },
    async updateContainerResources({ containerId, linux }, options) {
      const signal = signalOf(options);
      const { Id } = await inspectOwn(context, containerId, signal);
      await docker.updateContainer(Id, makeResources(linux), { signal });
      return UpdateContainerResourcesResponse.fromPartial({});
    },
    async reopenContainerLog({ containerId }, options) {
      await logs.reopen(await inspectOwn(context, containerId, signalOf(options)));
      return ReopenContainerLogResponse.fromPartial({});
    },
    async execSync({ containerId, cmd, timeout }, options) {
      const milliseconds = Number(timeout) * 1000;
      const isEndless = milliseconds === 0 && options?.timeoutMs === undefined;
      const signal = isEndless ? (options?.signal ?? never) : signalOf(options, milliseconds);
      return ExecSyncResponse.fromPartial(await execSync(context, containerId, cmd, milliseconds, signal));
    },
    async containerStats({ containerId }, options) {
      const signal = signalOf(options);
      const { Id, Config, Name } = await inspectOwn(context, containerId, signal);
      const { metadata } = toContainer({ Id, Names: [Name], Image: '', ImageID: '', State: '' }, 0n);
      const container = { id: Id, metadata, ...decodeLabels(Config.Labels, containerType) };
      return ContainerStatsResponse.fromPartial({
        stats: await readContainerStats(context, container, signal),
      });
    },
    async listContainerStats({ filter }, options) {
      return ListContainerStatsResponse.fromPartial({
        stats: await listContainerStats(context, filter, signalOf(options)),
      });
    },
  };
}
