import { nowNanoseconds } from '../node-facts.js';
import { matchesContainerFilter, matchesSandboxFilter } from '../filters.js';
import { ContainerStats, PodSandboxStats } from '../messages.js';
import type { AnswersOf } from './calls.js';
import { type FakeContext } from './context.js';
import { type ContainerRecord, getContainer, getSandbox, type SandboxRecord } from './state.js';

type StatsCalls = AnswersOf<
  'containerStats' | 'listContainerStats' | 'podSandboxStats' | 'listPodSandboxStats'
>;

/** Figures of processes that do nothing. */
export function statsCalls(context: FakeContext): StatsCalls {
  const { state } = context;
  const ofContainer = ({ id, config }: ContainerRecord): ContainerStats => {
    const { labels, annotations, metadata } = config;
    const timestamp = nowNanoseconds(context.clock);
    return ContainerStats.fromPartial({
      attributes: { id, labels, annotations, metadata },
      cpu: { timestamp, usageCoreNanoSeconds: { value: 0n } },
      memory: { timestamp, workingSetBytes: { value: 0n } },
    });
  };
  const ofSandbox = ({ id, config }: SandboxRecord): PodSandboxStats => {
    const { labels, annotations, metadata } = config;
    const timestamp = nowNanoseconds(context.clock);
    return PodSandboxStats.fromPartial({
      attributes: { id, labels, annotations, metadata },
      linux: { cpu: { timestamp }, memory: { timestamp } },
    });
  };
  return {
    containerStats: ({ containerId }) => ({ stats: ofContainer(getContainer(state, containerId)) }),
    listContainerStats: ({ filter }) => ({
      stats: [...state.containers.values()]
        .filter(({ item }) => matchesContainerFilter(item, filter && { ...filter, state: undefined }))
        .map(ofContainer),
    }),
    podSandboxStats: ({ podSandboxId }) => ({ stats: ofSandbox(getSandbox(state, podSandboxId)) }),
    listPodSandboxStats: ({ filter }) => ({
      stats: [...state.sandboxes.values()]
        .filter(({ item }) => matchesSandboxFilter(item, filter && { ...filter, state: undefined }))
        .map(ofSandbox),
    }),
  };
}
