/** Many nodes, measured: real agents and a real etcd where that is what counts, and thousands of nodes as function calls. */
import {
  defaultSimulation,
  type FollowingFigures,
  measureFollowing,
  measurePeers,
  type PeerFigures,
  type SimulationResult,
} from '@podwire/simulation';
import { type BenchCall, type Programs, stepsOf } from '../call.js';
import { type Conditions, noteConditions } from '../machine.js';
import { type AddFigures, measureAdds } from './add-latency.js';
import { type AddressBurst, measureAddressBursts } from './address-burst.js';
import { type BurstFigures, measureBursts } from './burst.js';
import { type ClaimFigures, measureClaims } from './claims.js';
import { type DisturbedAdds, type DisturbedOptions, measureDisturbedAdds } from './disturbed-adds.js';
import { type IpamRate, measureIpamRate } from './ipam-rate.js';
import { type ManyPeers, measureManyPeers } from './many-peers.js';
import { measureNewcomers, type NewcomerFigures } from './newcomer.js';
import { simulateApart } from './simulate-apart.js';
import { measureThroughput, type Throughput } from './throughput.js';

export interface ClusterOptions extends Programs {
  /** ADDs of each kind of node, with etcd and without; and those before. */
  readonly pods: number;
  readonly warmUp: number;
  /** ADDs while the node reconciles and pools change. */
  readonly disturbed: Pick<DisturbedOptions, 'endpoints' | 'addsPerRound' | 'rounds'>;
  /** Addresses in memory. */
  readonly allocations: number;
  readonly burst: { readonly nodes: number; readonly podsPerNode: number; readonly rounds: number };
  readonly claims: { readonly blocks: number; readonly claims: number };
  readonly newcomers: { readonly followers: number; readonly newcomers: number };
  /** Nodes that are in the store when an agent starts. */
  readonly peers: number;
  readonly throughput: { readonly rounds: number; readonly megabytes: number };
  readonly simulation: {
    /** One simulation for each. */
    readonly nodes: readonly number[];
    readonly podsPerNode: number;
    readonly followedBlocks: number;
  };
}

export const defaultClusterOptions = {
  pods: 200,
  warmUp: 200,
  disturbed: { endpoints: 1_000, addsPerRound: 100, rounds: 4 },
  allocations: 400_000,
  burst: { nodes: 3, podsPerNode: 100, rounds: 9 },
  claims: { blocks: 10_000, claims: 200 },
  newcomers: { followers: 50, newcomers: 20 },
  peers: 5_000,
  throughput: { rounds: 9, megabytes: 400 },
  simulation: { nodes: [50, 500, 5_000], podsPerNode: 20, followedBlocks: 10_000 },
} as const satisfies Omit<ClusterOptions, 'binDir' | 'agent'>;

/** Content of the JSON output. */
export interface ClusterResult extends Conditions {
  readonly options: ClusterOptions;
  readonly adds: AddFigures;
  readonly disturbed: DisturbedAdds;
  readonly ipam: IpamRate;
  readonly burst: BurstFigures;
  readonly addresses: AddressBurst;
  readonly claims: ClaimFigures;
  readonly newcomers: NewcomerFigures;
  readonly manyPeers: ManyPeers;
  readonly throughput: readonly Throughput[];
  readonly simulations: readonly SimulationResult[];
  readonly following: FollowingFigures;
  readonly planning: PeerFigures;
}

/**
 * Needs root, etcd-server and etcd-client. Leaves nothing behind.
 * @throws Error when anything does not work: there is no figure for that
 */
export async function runCluster(options: ClusterOptions, call: BenchCall): Promise<ClusterResult> {
  const { signal } = call;
  const { binDir, agent, pods, warmUp, peers } = options;
  const conditions = noteConditions();
  const { progress } = stepsOf(call);
  const step = (phase: string) => (done: number, total: number) => progress(phase, done, total);
  // Those who need the machine's quiet first.
  const throughput = await measureThroughput({ ...options.throughput, signal, progress });
  const adds = await measureAdds({ binDir, agent, pods, warmUp, signal, progress });
  const disturbed = await measureDisturbedAdds({ ...options.disturbed, binDir, agent, signal, progress });
  const burst = await measureBursts({ ...options.burst, binDir, agent, signal, progress });
  const { nodes, rounds, podsPerNode } = options.burst;
  const addresses = await measureAddressBursts({
    ...{ nodes, rounds, addressesPerNode: podsPerNode, signal },
    progress: step('addresses alone'),
  });
  progress('addresses in memory', 0, 1);
  const ipam = measureIpamRate(options.allocations);
  const claims = await measureClaims({ ...options.claims, signal, progress: step('claims in a full pool') });
  const newcomers = await measureNewcomers({ ...options.newcomers, signal, progress: step('newcomers') });
  const manyPeers = await measureManyPeers({ peers, agent, signal, progress });
  const simulated = await simulateAll(options, call);
  return {
    ...conditions(),
    options,
    ...{ adds, disturbed, ipam, burst, addresses, claims, newcomers, manyPeers, throughput },
    ...simulated,
  };
}

async function simulateAll(
  { simulation, peers }: ClusterOptions,
  { signal, progress }: BenchCall,
): Promise<Pick<ClusterResult, 'simulations' | 'following' | 'planning'>> {
  const { podsPerNode, followedBlocks } = simulation;
  progress({ phase: 'what one node pays for many', done: 0, total: 1 });
  const following = await measureFollowing(followedBlocks);
  const planning = measurePeers(peers);
  const simulations: SimulationResult[] = [];
  for (const nodes of simulation.nodes) {
    const show = (done: number, total: number): void =>
      progress({ phase: `simulation of ${nodes} nodes`, done, total });
    show(0, nodes * podsPerNode);
    simulations.push(await simulateApart({ ...defaultSimulation, nodes, podsPerNode }, show, signal));
  }
  return { simulations, following, planning };
}
