/** ADD and DEL on a node of a cluster beside a node alone, with etcd up and with etcd stopped: all in turns. */
import { createPrivateHost, type PrivateHost, startAgent } from '@podwire/testkit';
import type { Programs, StepCall } from '../call.js';
import { type Candidate, podwireCandidate, type PodSlot } from '../candidates.js';
import { measure, type Measurement } from '../measure.js';
import type { Summary } from '../statistics.js';
import { makeVolatileDirectory, type Member, type Members, startMembers } from './members.js';

export interface AddLatency {
  /** Milliseconds. */
  readonly alone: Summary;
  readonly member: Summary;
  /** p50 of the member by p50 of the one alone, in the same turns. */
  readonly ratio: number;
  /** Computing time of the agents for each call, on all their threads; their other work meanwhile counts too. */
  readonly computed: { readonly alone: number; readonly member: number };
}

export interface AddFigures {
  readonly up: { readonly add: AddLatency; readonly del: AddLatency };
  readonly stopped: { readonly add: AddLatency; readonly del: AddLatency };
}

export interface AddOptions extends Programs, StepCall {
  readonly pods: number;
  readonly warmUp: number;
}

/** One block for all pods: a node with free addresses does not ask the store. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 22 };

export async function measureAdds(options: AddOptions): Promise<AddFigures> {
  const { binDir, agent, pods, warmUp, signal, progress } = options;
  const host = await createPrivateHost({ name: 'alone', world: true });
  let cluster: Members | undefined;
  try {
    cluster = await startMembers({ name: 'add', nodes: 1, agent, pools: [pool] });
    const candidates = [await startAlone(host, options), memberCandidate(cluster.members[0]!, binDir)];
    const slots = new Map(candidates.map((one) => [one.name, addPods(one, pods)]));
    const run = async (step: string, count: number): Promise<Measurement[]> =>
      measure({
        candidates,
        pods: new Map([...slots].map(([name, all]) => [name, all.slice(0, count)])),
        workers: 1,
        batch: Math.ceil(count / 8),
        signal,
        progress: (done, total) => progress(`ADD and DEL in a cluster, ${step}`, done, total),
      });
    if (warmUp > 0) await run('warm up', Math.min(warmUp, pods));
    const up = await run('etcd up', pods);
    await cluster.etcd.members[0]!.kill9();
    const stopped = await run('etcd stopped', pods);
    return { up: evaluate(up), stopped: evaluate(stopped) };
  } finally {
    await host.close();
    await cluster?.close();
  }
}

async function startAlone(host: PrivateHost, { agent, binDir }: AddOptions): Promise<Candidate> {
  const { cidr, blockSize } = pool;
  const networks = [{ name: 'default', model: 'routed', pools: [{ cidr, blockSize }] }];
  const config = { networks, stateDir: makeVolatileDirectory(host) };
  return podwireCandidate(host, false, binDir, await startAgent(host, { entry: agent, config }));
}

const memberCandidate = ({ host, agent }: Member, binDir: string): Candidate => ({
  ...podwireCandidate(host, false, binDir, agent),
  name: 'member',
  title: 'podwire in a cluster',
});

function addPods({ host }: Candidate, count: number): PodSlot[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    containerId: `${host.name}-${index}`,
    netns: host.addPod().path,
  }));
}

function evaluate(measurements: readonly Measurement[]): AddFigures['up'] {
  const of = (operation: 'ADD' | 'DEL'): AddLatency => {
    const find = (name: string): Measurement =>
      measurements.find((one) => one.candidate === name && one.operation === operation)!;
    const [alone, member] = [find('podwire'), find('member')];
    return {
      alone: alone.summary,
      member: member.summary,
      ratio: member.summary.median / alone.summary.median,
      computed: { alone: computedFor(alone), member: computedFor(member) },
    };
  };
  return { add: of('ADD'), del: of('DEL') };
}

/** Milliseconds for each call. */
const computedFor = ({ daemonTime, summary }: Measurement): number =>
  (daemonTime ?? Number.NaN) / summary.count;
