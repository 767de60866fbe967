/**
 * Many pods at once on three nodes against one etcd: with blocks that the nodes own, and with one compare-and-set for each pod on the
 * way of its ADD, as plugins do that keep every address in the store. The same agent, plugin and etcd; runs take turns.
 */
import path from 'node:path';
import type { Programs, StepCall } from '../call.js';
import { podwireCandidate, type PodSlot } from '../candidates.js';
import { type Job, launchAll } from '../launcher.js';
import { processorTime } from '../process-cost.js';
import { pairedRatio, quantile } from '../statistics.js';
import { type Member, type Members, startMembers } from './members.js';

export interface BurstFigures {
  readonly nodes: number;
  /** Over all nodes. */
  readonly pods: number;
  /** Pods a second from the first process that is started until the last has ended; the median of the rounds. */
  readonly owned: number;
  readonly compareAndSet: number;
  /** The median over the rounds. */
  readonly ratio: number;
  readonly computed: { readonly owned: Computed; readonly compareAndSet: Computed };
}

/** Milliseconds of processor time for each pod that is added, on all threads: the median of the rounds. Plugins are not counted. */
export interface Computed {
  readonly agents: number;
  readonly etcd: number;
}

export interface BurstOptions extends Programs, StepCall {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly rounds: number;
}

/** Large enough that no block is claimed meanwhile: the latency of one address is compared. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 24 };

/** With the options of Node in the first line of `bin/podwire`: the same heap for both. */
const compareAndSetAgent = [
  ...[process.execPath, '--max-semi-space-size=4', '--heap-growing-percent=20'],
  path.join(import.meta.dirname, 'compare-and-set-agent.js'),
];

export async function measureBursts(options: BurstOptions): Promise<BurstFigures> {
  const { nodes, podsPerNode } = options;
  const opened: Members[] = [];
  try {
    for (const [name, agent] of [
      ['own', options.agent],
      ['cas', compareAndSetAgent],
    ] as const)
      opened.push(await startMembers({ name, nodes, agent, pools: [pool] }));
    const [owned = [], asking = []] = await burstInTurns(opened, options);
    const [ours, theirs] = [owned.map(({ rate }) => rate), asking.map(({ rate }) => rate)];
    return {
      ...{ nodes, pods: nodes * podsPerNode },
      owned: quantile(ours, 0.5),
      compareAndSet: quantile(theirs, 0.5),
      ratio: pairedRatio(ours, theirs),
      computed: { owned: summarizeComputed(owned), compareAndSet: summarizeComputed(asking) },
    };
  } finally {
    for (const members of opened) await members.close();
  }
}

interface Round extends Computed {
  /** Pods a second. */
  readonly rate: number;
}

const summarizeComputed = (rounds: readonly Round[]): Computed => ({
  agents: quantile(
    rounds.map(({ agents }) => agents),
    0.5,
  ),
  etcd: quantile(
    rounds.map(({ etcd }) => etcd),
    0.5,
  ),
});

/** @returns the rounds of each */
async function burstInTurns(clusters: readonly Members[], options: BurstOptions): Promise<Round[][]> {
  const { rounds, progress } = options;
  const all = clusters.map((members) => ({
    members,
    prepared: prepare(members, options),
    taken: [] as Round[],
  }));
  for (let round = 0; round <= rounds; round++) {
    for (const { members, prepared, taken } of round % 2 === 0 ? all : all.toReversed()) {
      const one = await burst(members, prepared, options);
      // The first round warms up.
      if (round > 0) taken.push(one);
    }
    progress('pods at once on several nodes', round + 1, rounds + 1);
  }
  return all.map(({ taken }) => taken);
}

interface Prepared {
  readonly member: Member;
  readonly adds: readonly Job[];
  readonly deletes: readonly Job[];
}

function prepare({ members }: Members, { binDir, podsPerNode }: BurstOptions): Prepared[] {
  return members.map((member) => {
    const candidate = podwireCandidate(member.host, false, binDir, member.agent);
    const pods = Array.from({ length: podsPerNode }, (_, index): PodSlot => {
      const netns = member.host.addPod().path;
      return { index, containerId: `${member.host.name}-${index}`, netns };
    });
    return {
      member,
      adds: pods.map((pod) => named(candidate.add(pod), pod)),
      deletes: pods.map((pod) => candidate.delete(pod, '{}')),
    };
  });
}

/** As Kubernetes names pods. */
const named = (job: Job, { index }: PodSlot): Job =>
  job.map((step) => ({
    ...step,
    environment: { ...step.environment, CNI_ARGS: `K8S_POD_NAMESPACE=bench;K8S_POD_NAME=pod-${index}` },
  }));

/** All pods of all nodes, then takes them off again. */
async function burst(
  { members, etcd }: Members,
  prepared: readonly Prepared[],
  options: BurstOptions,
): Promise<Round> {
  const pods = prepared.length * options.podsPerNode;
  const computed = (): number[] => [
    members.reduce((sum, { agent }) => sum + processorTime(agent.pid), 0),
    processorTime(etcd.members[0]!.pid),
  ];
  const [before, begin] = [computed(), performance.now()];
  await runAll(
    prepared.map(({ member, adds }) => ({ member, jobs: adds })),
    options,
  );
  const elapsed = performance.now() - begin;
  const [agents = 0, store = 0] = computed().map((after, index) => (after - before[index]!) / pods);
  await runAll(
    prepared.map(({ member, deletes }) => ({ member, jobs: deletes })),
    options,
  );
  return { rate: (pods * 1_000) / elapsed, agents, etcd: store };
}

async function runAll(
  work: readonly { readonly member: Member; readonly jobs: readonly Job[] }[],
  { podsPerNode, signal }: BurstOptions,
): Promise<void> {
  await Promise.all(
    work.map(({ member, jobs }) => launchAll(member.host.namespace, podsPerNode, jobs, signal)),
  );
}
