/** The container calls of RuntimeService. */
import { matchesContainerFilter, type RuntimeService } from '@podwire/cri';
import { inSpan, never, signalOf } from '../call.js';
import type { SandboxContext } from '../context.js';
import { containerType, decodeLabels } from '../labels.js';
import { makeResources } from './config.js';
import { toContainer, toContainerStatus } from './describe.js';
import { execSync } from './exec.js';
import { containerFilters } from './filters.js';
import { createWorkload, removeWorkload, startWorkload, stopWorkload } from './lifecycle.js';
import type { ContainerLogs } from './logs/logs.js';
import { inspectOwn, listOwn } from './lookup.js';
import { listContainerStats, readContainerStats } from './stats.js';

type LifecycleCalls = Pick<
  RuntimeService,
  'createContainer' | 'startContainer' | 'stopContainer' | 'removeContainer' | 'updateContainerResources'
>;

export function createLifecycleCalls(context: SandboxContext, logs: ContainerLogs): LifecycleCalls {
  return {
    createContainer(request, options) {
      const attributes = { container: request.config?.metadata?.name ?? '' };
      return inSpan(context, 'CreateContainer', attributes, options, async (span) => ({
        containerId: await createWorkload(context, request, { signal: signalOf(options), span }),
      }));
    },
    startContainer({ containerId }, options) {
      return inSpan(context, 'StartContainer', { container: containerId }, options, async () => {
        await startWorkload(context, logs, containerId, signalOf(options));
        return {};
      });
    },
    async stopContainer({ containerId, timeout }, options) {
      const seconds = Number(timeout);
      await stopWorkload(context, containerId, seconds, signalOf(options, seconds * 1000));
      return {};
    },
    async removeContainer({ containerId }, options) {
      await removeWorkload(context, logs, containerId, signalOf(options));
      return {};
    },
    async updateContainerResources({ containerId, linux }, options) {
      const signal = signalOf(options);
      const { Id } = await inspectOwn(context, containerId, signal);
      await context.docker.updateContainer(Id, makeResources(linux), { signal });
      return {};
    },
  };
}

type ObservationCalls = Pick<
  RuntimeService,
  | 'listContainers'
  | 'containerStatus'
  | 'reopenContainerLog'
  | 'execSync'
  | 'containerStats'
  | 'listContainerStats'
>;

export function createObservationCalls(context: SandboxContext, logs: ContainerLogs): ObservationCalls {
  return {
    async listContainers({ filter }, options) {
      const signal = signalOf(options);
      const listed = await listOwn(context, containerFilters(filter), signal);
      const times = await context.created.of(listed, signal);
      const containers = listed
        .map((one) => toContainer(one, times.get(one.Id) ?? 0n))
        .filter((container) => matchesContainerFilter(container, filter));
      return { containers };
    },
    async containerStatus({ containerId, verbose }, options) {
      const signal = signalOf(options);
      const found = await inspectOwn(context, containerId, signal);
      if (!found.State.Running) await logs.settle(found.Id);
      const image = await context.images.inspect(found.Image, signal);
      return {
        status: toContainerStatus(found, image),
        info: verbose ? { info: JSON.stringify(found) } : {},
      };
    },
    async reopenContainerLog({ containerId }, options) {
      await logs.reopen(await inspectOwn(context, containerId, signalOf(options)));
      return {};
    },
    async execSync({ containerId, cmd, timeout }, options) {
      const milliseconds = Number(timeout) * 1000;
      const isEndless = milliseconds === 0 && options?.timeoutMs === undefined;
      const signal = isEndless ? (options?.signal ?? never) : signalOf(options, milliseconds);
      return execSync(context, containerId, cmd, milliseconds, signal);
    },
    async containerStats({ containerId }, options) {
      const signal = signalOf(options);
      const { Id, Config, Name } = await inspectOwn(context, containerId, signal);
      const { metadata } = toContainer({ Id, Names: [Name], Image: '', ImageID: '', State: '' }, 0n);
      const container = { id: Id, metadata, ...decodeLabels(Config.Labels, containerType) };
      return { stats: await readContainerStats(context, container, signal) };
    },
    async listContainerStats({ filter }, options) {
      return { stats: await listContainerStats(context, filter, signalOf(options)) };
    },
  };
}
