import { createPrivateHost, type PrivateHost, startAgent } from '@podwire/testkit';
import { type AgentFigures, measureAgent } from './agent-figures.js';
import { makeVolatileDirectory } from './cluster/members.js';
import type { BenchCall, Programs } from './call.js';
import { compare } from './compare.js';
import {
  addPods,
  type Candidate,
  type CandidateName,
  debianCandidate,
  emptyCandidate,
  floorCandidate,
  podwireCandidate,
} from './candidates.js';
import { type Conditions, noteConditions } from './machine.js';
import { measure, type Measurement, merge } from './measure.js';
import type { Comparison } from './thresholds.js';

export interface BenchOptions {
  /** Pods of each candidate. */
  readonly pods: number;
  /** Calls at once in the second part; the first part makes one at a time. */
  readonly workers: number;
  /** Repetitions of the whole; samples are put together. */
  readonly rounds: number;
  /** Pods of each candidate that are attached and detached before anything is measured. */
  readonly warmUp: number;
  /** Endpoints for the figures of the agent. */
  readonly endpoints: number;
  readonly idleSeconds: number;
  /** Where the peers' plugins are (Debian: containernetworking-plugins). */
  readonly peerBinDir: string;
  /** How to run Podwire; without it the peers are measured alone. */
  readonly podwire?: Programs;
}

export const defaultOptions = {
  pods: 200,
  workers: 32,
  rounds: 1,
  warmUp: 20,
  endpoints: 1_000,
  idleSeconds: 10,
  peerBinDir: '/usr/lib/cni',
} as const satisfies BenchOptions;

/** Content of the JSON output. Times in milliseconds. */
export interface BenchResult extends Conditions {
  readonly version: 1;
  readonly startedAt: string;
  readonly podwire: boolean;
  readonly options: BenchOptions;
  readonly candidates: readonly { readonly name: CandidateName; readonly title: string }[];
  readonly measurements: readonly Measurement[];
  readonly agent: AgentFigures | undefined;
  readonly comparisons: readonly Comparison[];
}

/**
 * Measures Podwire and its peers in one run, each in a private host of its own, and leaves nothing behind. Needs root, a C
 * compiler and the peers' plugins.
 * @throws Error when a plugin fails or a pod cannot be reached: there is no figure for what does not work
 */
export async function runBench(options: BenchOptions, call: BenchCall): Promise<BenchResult> {
  const startedAt = new Date().toISOString();
  const conditions = noteConditions();
  const hosts: PrivateHost[] = [];
  try {
    const candidates = await prepareCandidates(options, hosts);
    const measurements = await measureAll(options, candidates, call);
    const agent = await measureAgentAlone(options, hosts, call);
    return {
      version: 1,
      startedAt,
      podwire: options.podwire !== undefined,
      ...conditions(),
      options,
      candidates: candidates.map(({ name, title }) => ({ name, title })),
      measurements,
      agent,
      comparisons: compare(measurements, agent),
    };
  } finally {
    for (const host of hosts.reverse()) await host.close();
  }
}

/** A host with an uplink that forwards, as a node does; kept in `hosts` for closing. */
async function addHost(hosts: PrivateHost[], name: string): Promise<PrivateHost> {
  const host = await createPrivateHost({ name, world: true });
  hosts.push(host);
  await host.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1']);
  return host;
}

async function prepareCandidates(options: BenchOptions, hosts: PrivateHost[]): Promise<Candidate[]> {
  const { peerBinDir, podwire } = options;
  const candidates = [
    emptyCandidate(await addHost(hosts, 'empty')),
    floorCandidate(await addHost(hosts, 'floor')),
    debianCandidate(await addHost(hosts, 'ptp'), false, peerBinDir),
    debianCandidate(await addHost(hosts, 'chain'), true, peerBinDir),
  ];
  if (podwire === undefined) return candidates;
  return [
    ...candidates,
    (await startPodwire(podwire, await addHost(hosts, 'podwire'), false)).candidate,
    (await startPodwire(podwire, await addHost(hosts, 'podwirec'), true)).candidate,
  ];
}

async function startPodwire(podwire: Programs, host: PrivateHost, chained: boolean) {
  // IPv4 alone, as the peers: two families would be more work for one side.
  const networks = [{ name: 'default', model: 'routed', pools: [{ cidr: '10.62.0.0/16' }] }];
  const stateDir = makeVolatileDirectory(host);
  const agent = await startAgent(host, { entry: podwire.agent, config: { networks, stateDir } });
  return { agent, candidate: podwireCandidate(host, chained, podwire.binDir, agent) };
}

async function measureAll(
  options: BenchOptions,
  candidates: readonly Candidate[],
  call: BenchCall,
): Promise<Measurement[]> {
  const pods = new Map(candidates.map((one) => [one.name, addPods(one.host, options.pods)]));
  const firstPods = new Map([...pods].map(([name, slots]) => [name, slots.slice(0, options.warmUp)]));
  const plan = { candidates, pods, signal: call.signal };
  const progressOf = (phase: string) => (done: number, total: number) =>
    call.progress({ phase, done, total });
  if (options.warmUp > 0) {
    const progress = progressOf('warm up');
    await measure({ ...plan, pods: firstPods, workers: 1, batch: options.warmUp, progress });
  }
  const taken: Measurement[] = [];
  for (const workers of [1, options.workers]) {
    for (let round = 0; round < options.rounds; round += 1) {
      const measurements = await measure({
        ...plan,
        candidates: rotate(candidates, round),
        workers,
        // One at a time the candidates take turns; many at once, a part would be mostly beginning and end.
        batch: workers === 1 ? Math.ceil(options.pods / 8) : options.pods,
        progress: progressOf(`${workers === 1 ? 'one at a time' : `${workers} at once`}, round ${round + 1}`),
      });
      taken.push(...measurements);
    }
  }
  return merge(taken);
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const offset = by % items.length;
  return [...items.slice(offset), ...items.slice(0, offset)];
}

const spareCount = 100;

async function measureAgentAlone(
  options: BenchOptions,
  hosts: PrivateHost[],
  { signal, progress }: BenchCall,
): Promise<AgentFigures | undefined> {
  if (options.podwire === undefined || options.endpoints === 0) return undefined;
  const host = await addHost(hosts, 'agent');
  const { agent, candidate } = await startPodwire(options.podwire, host, false);
  return measureAgent({
    agent,
    candidate,
    pods: addPods(host, options.endpoints),
    spare: addPods(host, spareCount),
    burst: options.pods,
    workers: options.workers,
    idleSeconds: options.idleSeconds,
    signal,
    progress: (step, done, total) => progress({ phase: `the agent: ${step}`, done, total }),
  });
}
