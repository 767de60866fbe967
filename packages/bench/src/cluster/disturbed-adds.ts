/**
 * ADD on a node with many endpoints, undisturbed, and while the node reconciles again and again and a pool comes and goes: in turns, with
 * a real agent, plugin and etcd.
 */
import { type LocalApi, openLocalApi } from '@podwire/local-api';
import { systemClock } from '@podwire/platform';
import type { ClusterHost } from '@podwire/testkit';
import type { Programs, StepCall } from '../call.js';
import { podwireCandidate, type PodSlot } from '../candidates.js';
import { type Job, launchAll, previousOutput } from '../launcher.js';
import { summarize, type Summary } from '../statistics.js';
import { type Members, startMembers } from './members.js';
import { passingPool, passPool } from './passing-pool.js';

export interface DisturbedOptions extends Programs, StepCall {
  readonly endpoints: number;
  /** ADDs of either kind in each round; of the disturbed ones a multiple, when a reconcile takes longer. */
  readonly addsPerRound: number;
  readonly rounds: number;
}

/** Milliseconds of the plugin, from its start to its end, one ADD at a time. */
export interface DisturbedAdds {
  readonly endpoints: number;
  readonly undisturbed: Summary;
  readonly disturbed: Summary;
  /** p99 of the disturbed ones less that of the others. */
  readonly excess: number;
  /** The excess may be so much. */
  readonly budget: number;
  /** Reconciles beside the disturbed ones, each begun when the one before was answered. */
  readonly reconciles: number;
  /** Pools that were created and deleted meanwhile. */
  readonly pools: number;
}

/** One block for all pods. When half of it is in use or cooling down, another is claimed in the background, once. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 20 };
const workers = 32;
const budget = 20;
const patience = 60_000;

export async function measureDisturbedAdds(options: DisturbedOptions): Promise<DisturbedAdds> {
  const { agent, endpoints, progress } = options;
  progress(`ADD beside ${endpoints} endpoints: attach them`, 0, 1);
  const cluster = await startMembers({ name: 'disturbed', nodes: 1, agent, pools: [pool] });
  try {
    const rounds = await takeTurns(await fillNode(cluster, options), options);
    const undisturbed = summarize(rounds.flatMap((round) => round.undisturbed));
    const disturbed = summarize(rounds.flatMap((round) => round.disturbed));
    return {
      ...{ endpoints, undisturbed, disturbed, budget },
      excess: disturbed.p99 - undisturbed.p99,
      reconciles: rounds.reduce((sum, { reconciles }) => sum + reconciles, 0),
      pools: rounds.reduce((sum, { pools }) => sum + pools, 0),
    };
  } finally {
    await cluster.close();
  }
}

interface FilledNode {
  readonly host: ClusterHost;
  readonly api: LocalApi;
  /** Of the store. */
  readonly storeEndpoints: readonly string[];
  /** ADDs, each with its DEL behind it: the number of endpoints stays what it is. */
  readonly jobs: readonly Job[];
}

async function fillNode({ members, etcd }: Members, options: DisturbedOptions): Promise<FilledNode> {
  const { binDir, endpoints, addsPerRound, signal } = options;
  const { host, agent } = members[0]!;
  const candidate = podwireCandidate(host, false, binDir, agent);
  const slots = Array.from({ length: endpoints + addsPerRound }, (_, index): PodSlot => {
    const netns = host.addPod().path;
    return { index, containerId: `${host.name}-${index}`, netns };
  });
  const filling = slots.slice(0, endpoints).map((slot) => candidate.add(slot));
  await launchAll(host.namespace, workers, filling, signal);
  const jobs = slots
    .slice(endpoints)
    .map((slot) => [...candidate.add(slot), ...candidate.delete(slot, previousOutput)]);
  const peer = { name: 'agent', unreachable: 'AGENT_UNREACHABLE' } as const;
  const api = openLocalApi({ socket: agent.apiSocket, timeout: patience, peer, signal });
  return { host, api, storeEndpoints: etcd.spec.endpoints, jobs };
}

interface DisturbedRound {
  readonly disturbed: readonly number[];
  readonly reconciles: number;
  readonly pools: number;
}

interface Round extends DisturbedRound {
  readonly undisturbed: readonly number[];
}

async function takeTurns(node: FilledNode, options: DisturbedOptions): Promise<Round[]> {
  const { endpoints, rounds, signal, progress } = options;
  const taken: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    progress(`ADD beside ${endpoints} endpoints, reconciles and changes of pools`, round, rounds + 1);
    const undisturbed = await addOneAtATime(node, signal);
    const one = { undisturbed, ...(await addDisturbed(node, signal)) };
    // The first round warms up.
    if (round > 0) taken.push(one);
  }
  return taken;
}

/** Milliseconds of each ADD. */
async function addOneAtATime({ host, jobs }: FilledNode, signal: AbortSignal): Promise<number[]> {
  const outcomes = await launchAll(host.namespace, 1, jobs, signal);
  return outcomes.map(({ steps }) => steps[0] ?? Number.NaN);
}

/** The pool is followed before the first ADD, and forgotten at the end: each ADD has its turn in full. */
async function addDisturbed(node: FilledNode, interrupted: AbortSignal): Promise<DisturbedRound> {
  const [over, failed] = [new AbortController(), new AbortController()];
  const signal = AbortSignal.any([interrupted, failed.signal]);
  const done = { reconciles: 0 };
  const disturbances = Promise.all([
    passPool(node.host, node.storeEndpoints, over.signal),
    reconcileUntil(node.api, done, over.signal),
  ]);
  const ended = disturbances.catch((error: unknown) => failed.abort(error));
  let disturbed: readonly number[];
  try {
    await untilPassing(node.api, true, signal);
    disturbed = await addDuringReconciles(node, done, signal);
  } finally {
    over.abort();
    await ended;
  }
  const [pools] = await disturbances;
  await untilPassing(node.api, false, signal);
  return { disturbed, reconciles: done.reconciles, pools };
}

interface Done {
  reconciles: number;
}

/** Goes on until one reconcile has been met as a whole: what makes an ADD wait may be any part of it. */
async function addDuringReconciles(
  node: FilledNode,
  done: Readonly<Done>,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = [];
  // The one under way began before the first ADD.
  const enough = done.reconciles + 2;
  do {
    times.push(...(await addOneAtATime(node, signal)));
  } while (done.reconciles < enough);
  return times;
}

/** @throws Error with what a reconcile could not do */
async function reconcileUntil(api: LocalApi, done: Done, over: AbortSignal): Promise<void> {
  do {
    const { failures } = await api.post<{ readonly failures: readonly string[] }>('/v1/reconcile', {});
    if (failures.length > 0) throw new Error(`a reconcile failed: ${failures.join('; ')}`);
    done.reconciles += 1;
  } while (!over.aborted);
}

interface IpamView {
  readonly networks: readonly { readonly pools: readonly { readonly name: string }[] }[];
}

/** Resolves when the agent has the pool, or has it no more. @throws Error after a minute */
async function untilPassing(api: LocalApi, isThere: boolean, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + patience; ;) {
    const { networks } = await api.get<IpamView>('/v1/ipam');
    const names = networks.flatMap(({ pools }) => pools.map(({ name }) => name));
    if (names.includes(passingPool.name) === isThere) return;
    if (performance.now() > end)
      throw new Error(`the agent has the pools ${names.join(', ')} after a minute`);
    await systemClock.sleep(20, signal);
  }
}
