/** Resource use of pods, as the runtime reports it. */
import type { ContainerStats, CriRuntime, LinuxPodSandboxStats } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { PodView } from '../contract.js';
import type { PodletApi } from './api.js';

export interface ContainerUse {
  readonly name: string;
  /** Seconds since the epoch, of the clock of the runtime. */
  readonly at: number;
  /** Seconds of processor time since it began, over all processors. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

export interface PodUse {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly ContainerUse[];
  readonly processes?: number;
  /** Of all interfaces; absent on the node's network, and where the runtime does not say. */
  readonly rxBytes?: number;
  readonly txBytes?: number;
  /** Why nothing is known of it. */
  readonly problem?: string;
}

/** Milliseconds. */
const patience = 5_000;

/** Of all pods that have a sandbox, or of one. */
export async function readUse(
  { pods, runtime }: Pick<PodletApi, 'pods' | 'runtime'>,
  wanted: PodView | undefined,
  signal: AbortSignal,
): Promise<PodUse[]> {
  const chosen = wanted === undefined ? pods() : [wanted];
  const begun = chosen.filter(({ sandboxId }) => sandboxId !== undefined);
  return Promise.all(begun.map((pod) => readOne(runtime, pod, signal)));
}

async function readOne(
  runtime: Pick<CriRuntime, 'podSandboxStats'>,
  { namespace, name, sandboxId = '', containers }: PodView,
  signal: AbortSignal,
): Promise<PodUse> {
  try {
    const options = { signal, timeoutMs: patience };
    const { stats } = await runtime.podSandboxStats({ podSandboxId: sandboxId }, options);
    const running = containers.filter(({ state }) => state.running !== undefined);
    const ids = new Set(running.map(({ containerID }) => containerID.replace(/^.*:\/\//, '')));
    return { namespace, name, ...describe(stats?.linux, ids) };
  } catch (error) {
    return { namespace, name, containers: [], problem: describeError(error) };
  }
}

/** @param running instances that have ended are in the runtime too, for their logs */
function describe(
  linux: LinuxPodSandboxStats | undefined,
  running: ReadonlySet<string>,
): Omit<PodUse, 'namespace' | 'name'> {
  const { network, process, containers = [] } = linux ?? {};
  const first = network?.defaultInterface;
  const links = [...(first === undefined ? [] : [first]), ...(network?.interfaces ?? [])];
  const sum = (values: readonly (bigint | undefined)[]): number =>
    values.reduce((total: number, value) => total + Number(value ?? 0n), 0);
  return {
    containers: containers
      .filter(({ attributes }) => running.has(attributes?.id ?? ''))
      .map(describeContainer),
    ...compact({
      processes: process?.processCount === undefined ? undefined : Number(process.processCount.value),
    }),
    ...(links.length === 0
      ? {}
      : {
          rxBytes: sum(links.map(({ rxBytes }) => rxBytes?.value)),
          txBytes: sum(links.map(({ txBytes }) => txBytes?.value)),
        }),
  };
}

function describeContainer({ attributes, cpu, memory }: ContainerStats): ContainerUse {
  const seconds = (nanoseconds: bigint): number => Number(nanoseconds) / 1e9;
  return {
    name: attributes?.metadata?.name ?? '',
    at: seconds(cpu?.timestamp ?? 0n),
    cpuSeconds: seconds(cpu?.usageCoreNanoSeconds?.value ?? 0n),
    memoryBytes: Number(memory?.workingSetBytes?.value ?? memory?.usageBytes?.value ?? 0n),
  };
}
