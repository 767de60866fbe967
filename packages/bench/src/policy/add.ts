/**
 * ADD of a pod that many policies select, on a node that knows many pods, beside a node without policies: in turns, with real agents,
 * plugins and etcd. A replica is a pod like one that is on the node; the first of a kind brings all its policies to the node.
 */
import { openLocalApi } from '@podwire/local-api';
import { systemClock } from '@podwire/platform';
import type { Programs, StepCall } from '../call.js';
import { podwireCandidate, type PodSlot } from '../candidates.js';
import { type Member, type Members, startMembers } from '../cluster/members.js';
import { type Job, launch } from '../launcher.js';
import { summarize, type Summary } from '../statistics.js';
import { asWebPod } from './measured-pod.js';
import { fillStore, homeNamespace } from './pod-cluster.js';

export interface PolicyAddOptions extends Programs, StepCall {
  readonly policies: number;
  /** Pods of other nodes. */
  readonly knownPods: number;
  /** ADDs of each kind. */
  readonly pods: number;
  /** Kinds of pods that come for the first time, each with policies of its own. */
  readonly firsts: number;
}

/** Milliseconds of the plugin, from its start to its end. */
export interface PolicyAdds {
  readonly policies: number;
  readonly knownPods: number;
  readonly without: Summary;
  /** Another of the kind is on the node. */
  readonly replica: Summary;
  /** The only one of its kind on the node, added and deleted again and again. */
  readonly alone: Summary;
  /** No pod that these policies select has been on the node. */
  readonly first: Summary;
  /** p50 by that without policy. */
  readonly ratios: { readonly replica: number; readonly alone: number; readonly first: number };
}

/** Large enough that no block is claimed meanwhile. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 22 };
const aloneNamespace = 'alone';
const patience = 60_000;

export async function measurePolicyAdds(options: PolicyAddOptions): Promise<PolicyAdds> {
  const { agent, firsts } = options;
  const opened: Members[] = [];
  try {
    for (const name of ['open', 'policy'])
      opened.push(await startMembers({ name, nodes: 1, agent, pools: [pool] }));
    const [open, policed] = opened.map(({ members }) => members[0]!) as [Member, Member];
    const kinds = Array.from({ length: firsts }, (_, index) => `first-${index}`);
    await fill(opened[1]!, [homeNamespace, aloneNamespace, ...kinds], options);
    return await takeTurns(open, policed, kinds, options);
  } finally {
    for (const members of opened) await members.close();
  }
}

async function fill(
  { members, etcd }: Members,
  namespaces: readonly string[],
  { knownPods: pods, policies, signal, progress }: PolicyAddOptions,
): Promise<void> {
  progress('ADD with policies: objects of the cluster', 0, 1);
  const { host, agent } = members[0]!;
  const wanted = namespaces.length * policies;
  await fillStore(host, etcd.spec.endpoints, { pods, policies, namespaces }, signal);
  await untilKnown(agent.apiSocket, { pods, objects: wanted }, signal);
}

/** Resolves when the agent has so many in force. @throws Error after a minute */
export async function untilKnown(
  socket: string,
  wanted: { readonly pods: number; readonly objects: number },
  signal: AbortSignal,
): Promise<void> {
  const peer = { name: 'agent', unreachable: 'AGENT_UNREACHABLE' } as const;
  const api = openLocalApi({ socket, timeout: patience, peer });
  for (const end = performance.now() + patience; ;) {
    const { counts, inForce } = await api.get<{
      readonly inForce: boolean;
      readonly counts: { readonly pods: number; readonly objects: number };
    }>('/v1/policy');
    if (inForce && counts.pods >= wanted.pods && counts.objects >= wanted.objects) return;
    if (performance.now() > end) throw new Error(`the agent knows ${JSON.stringify(counts)} after a minute`);
    await systemClock.sleep(20, signal);
  }
}

type Run = (namespace: string) => Promise<number>;
type Kind = 'without' | 'replica' | 'alone';

async function takeTurns(
  open: Member,
  policed: Member,
  kinds: readonly string[],
  options: PolicyAddOptions,
): Promise<PolicyAdds> {
  const { policies, knownPods } = options;
  const [onOpen, onPoliced] = [open, policed].map((member) => runnerOn(member, options)) as [Run, Run];
  // Beside it all others of its kind are replicas.
  await keepReplica(policed, options);
  const samples = await takeRounds(options, [
    ['without', () => onOpen(homeNamespace)],
    ['replica', () => onPoliced(homeNamespace)],
    ['alone', () => onPoliced(aloneNamespace)],
  ]);
  const first: number[] = [];
  for (const kind of kinds) first.push(await onPoliced(kind));
  const [without, replica, alone] = [samples.without, samples.replica, samples.alone].map(summarize) as [
    Summary,
    Summary,
    Summary,
  ];
  const by = (median: number): number => median / without.median;
  const ratios = {
    replica: by(replica.median),
    alone: by(alone.median),
    first: by(summarize(first).median),
  };
  return { policies, knownPods, without, replica, alone, first: summarize(first), ratios };
}

/** Forwards and backwards: an agent that comes after another agent's turn finds the processor's caches cold. */
async function takeRounds(
  { pods, progress }: PolicyAddOptions,
  turns: readonly (readonly [Kind, () => Promise<number>])[],
): Promise<Record<Kind, number[]>> {
  const samples: Record<Kind, number[]> = { without: [], replica: [], alone: [] };
  for (let round = -warmUp; round < pods; round++) {
    for (const [kind, run] of round % 2 === 0 ? turns : turns.toReversed()) {
      const time = await run();
      if (round >= 0) samples[kind].push(time);
    }
    progress('ADD with policies', Math.max(0, round + 1), pods);
  }
  return samples;
}

/** Rounds whose figures do not count. */
const warmUp = 10;

/** One ADD and its DEL; the time of the ADD. */
function runnerOn(member: Member, { binDir, signal }: PolicyAddOptions): Run {
  const candidate = podwireCandidate(member.host, false, binDir, member.agent);
  const slot: PodSlot = {
    ...{ index: 0, containerId: `${member.host.name}-pod` },
    netns: member.host.addPod().path,
  };
  return async (namespace) => {
    const run = async (job: Job): Promise<{ readonly time: number; readonly output: string }> => {
      const named = job.map((step) => asWebPod(step, namespace, 'measured'));
      const [outcome] = await launch(member.host.namespace, 1, [named], signal);
      if (outcome?.status !== 0) throw new Error(`the plugin failed: ${outcome?.output}${outcome?.error}`);
      return { time: outcome.end - outcome.start, output: outcome.output };
    };
    const { time, output } = await run(candidate.add(slot));
    await run(candidate.delete(slot, output));
    return time;
  };
}

async function keepReplica(member: Member, { binDir, signal }: PolicyAddOptions): Promise<void> {
  const candidate = podwireCandidate(member.host, false, binDir, member.agent);
  const slot = { index: 0, containerId: `${member.host.name}-kept`, netns: member.host.addPod().path };
  const job = candidate.add(slot).map((step) => asWebPod(step, homeNamespace, 'kept'));
  const [outcome] = await launch(member.host.namespace, 1, [job], signal);
  if (outcome?.status !== 0) throw new Error(`the plugin failed: ${outcome?.output}${outcome?.error}`);
}
