/** Usage of containers, from the engine's counters. */
import {
  type Container,
  ContainerStats,
  type ContainerStatsFilter,
  isCriError,
  matchesContainerFilter,
  type NetworkInterfaceUsage,
  nowNanoseconds,
  parseNetDev,
  PodSandboxStats,
  type PodSandboxStatus,
} from '@podwire/cri';
import fs from 'node:fs';
import { compact } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { type EngineStats, isNotFound, parseTime } from '../docker/index.js';
import { pinnedNetns } from '../sandboxes/netns.js';
import { toContainer } from './describe.js';
import { containerFilters } from './filters.js';
import { listOwn } from './lookup.js';
import { inNamespace, openNamespace } from '@podwire/linux';

/** Counters of one container; those that have ended have none. */
export async function readContainerStats(
  { docker, clock }: SandboxContext,
  container: Pick<Container, 'id' | 'metadata' | 'labels' | 'annotations'>,
  signal: AbortSignal,
): Promise<ContainerStats> {
  const [stats, { SizeRw = 0 }] = await Promise.all([
    docker.stats(container.id, { signal }),
    docker.inspectContainer(container.id, { size: true }, { signal }),
  ]);
  const timestamp = parseTime(stats.read) || nowNanoseconds(clock);
  const { id, metadata, labels, annotations } = container;
  return ContainerStats.fromPartial({
    attributes: { id, labels, annotations, ...compact({ metadata }) },
    cpu: { timestamp, usageCoreNanoSeconds: { value: cpuOf(stats) } },
    memory: { timestamp, ...memoryOf(stats) },
    writableLayer: { timestamp, usedBytes: { value: BigInt(SizeRw) } },
  });
}

const cpuOf = (stats: EngineStats): bigint => BigInt(stats.cpu_stats?.cpu_usage?.total_usage ?? 0);

/** The working set is what cannot be given back at once: usage less the inactive cache. */
function memoryOf({ memory_stats: memory }: EngineStats): Record<string, { value: bigint }> {
  const usage = memory?.usage ?? 0;
  const details = memory?.stats ?? {};
  const inactive = details['total_inactive_file'] ?? details['inactive_file'] ?? 0; // cgroup v1, v2
  const workingSet = Math.max(0, usage - inactive);
  const fields = {
    usageBytes: usage,
    workingSetBytes: workingSet,
    availableBytes: Math.max(0, (memory?.limit ?? 0) - workingSet),
    rssBytes: details['total_rss'] ?? details['anon'] ?? 0,
    pageFaults: details['total_pgfault'] ?? details['pgfault'] ?? 0,
    majorPageFaults: details['total_pgmajfault'] ?? details['pgmajfault'] ?? 0,
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, { value: BigInt(value) }]));
}

/** Of all running containers that the filter lets pass; one that goes meanwhile is left out. */
export async function listContainerStats(
  context: SandboxContext,
  filter: ContainerStatsFilter | undefined,
  signal: AbortSignal,
): Promise<ContainerStats[]> {
  const wanted = filter === undefined ? undefined : { ...filter, state: undefined };
  const listed = await listOwn(context, containerFilters(wanted), signal);
  const containers = listed
    .map((one) => toContainer(one, 0n))
    .filter((one) => matchesContainerFilter(one, wanted));
  return collectPresent(containers.map((container) => readContainerStats(context, container, signal)));
}

/** The results of those that still exist. @throws any error but "not found" */
export async function collectPresent<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work);
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value];
    if (isNotFound(result.reason) || isCriError(result.reason, 'NOT_FOUND')) return [];
    throw result.reason;
  });
}

/** The sandbox itself and its containers together, and what went over its interfaces. */
export async function readSandboxStats(
  context: SandboxContext,
  status: PodSandboxStatus,
  signal: AbortSignal,
): Promise<PodSandboxStats> {
  const filter = { id: '', podSandboxId: status.id, labelSelector: {} };
  const [containers, sandbox] = await Promise.all([
    listContainerStats(context, filter, signal),
    context.docker.stats(status.id, { signal }),
  ]);
  const timestamp = nowNanoseconds(context.clock);
  const own = { cpu: cpuOf(sandbox), memory: memoryOf(sandbox) };
  const sum = (first: bigint, pick: (stats: ContainerStats) => bigint | undefined): { value: bigint } => ({
    value: containers.reduce((total, stats) => total + (pick(stats) ?? 0n), first),
  });
  const { id, metadata, labels, annotations } = status;
  return PodSandboxStats.fromPartial({
    attributes: { id, labels, annotations, ...compact({ metadata }) },
    linux: {
      cpu: {
        timestamp,
        usageCoreNanoSeconds: sum(own.cpu, (stats) => stats.cpu?.usageCoreNanoSeconds?.value),
      },
      memory: {
        timestamp,
        usageBytes: sum(own.memory['usageBytes']!.value, (stats) => stats.memory?.usageBytes?.value),
        workingSetBytes: sum(
          own.memory['workingSetBytes']!.value,
          (stats) => stats.memory?.workingSetBytes?.value,
        ),
      },
      network: { timestamp, ...readInterfaces(context, status.id) },
      process: {
        timestamp,
        processCount: { value: BigInt(sandbox.pids_stats?.current ?? 0) },
      },
      containers,
    },
  });
}

/** `eth0` is the pod's own interface; loopback is not reported. */
function readInterfaces(
  context: SandboxContext,
  id: string,
): { defaultInterface?: NetworkInterfaceUsage; interfaces: NetworkInterfaceUsage[] } {
  const netns = pinnedNetns(context, id);
  if (netns === undefined) return { interfaces: [] };
  const all = parseNetDev(readInside(netns)).filter(({ name }) => name !== 'lo');
  const main = all.find(({ name }) => name === 'eth0');
  return {
    interfaces: all.filter((one) => one !== main),
    ...compact({ defaultInterface: main }),
  };
}

/** The file shows the namespace of the thread that opens it. */
function readInside(netns: string): string {
  const namespace = openNamespace(netns);
  try {
    return inNamespace(namespace, () => fs.readFileSync('/proc/thread-self/net/dev', 'utf8'));
  } finally {
    namespace.close();
  }
}
