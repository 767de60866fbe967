/**
 * Many pods at once on three nodes against one etcd: with blocks that the nodes own, and with one compare-and-set for each pod on the
 * way of its ADD, as plugins do that keep every address in the store. The same agent, plugin and etcd; runs take turns.
 */
import path from 'node:path';
import { podwireContender, type PodSlot } from '../contenders.js';
import { type Job, launch } from '../launcher.js';
import { quantile } from '../statistics.js';
import { type Member, type Members, startMembers } from './members.js';

export interface BurstFigures {
  readonly nodes: number;
  /** Over all nodes. */
  readonly pods: number;
  /** Pods a second from the first process that is started until the last has ended; the median of the rounds. */
  readonly owned: number;
  readonly compareAndSet: number;
  readonly ratio: number;
}

export interface BurstOptions {
  readonly binDir: string;
  /** The agent's command line up to `--config FILE`. */
  readonly agent: readonly string[];
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly rounds: number;
  readonly signal: AbortSignal;
  readonly progress: (step: string, done: number, total: number) => void;
}

/** Large enough that nobody claims in the middle: what is compared is the way of one address. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 24 };

const compareAndSetAgent = [process.execPath, path.join(import.meta.dirname, 'compare-and-set-agent.js')];

export async function measureBursts(options: BurstOptions): Promise<BurstFigures> {
  const { nodes, podsPerNode, rounds, progress } = options;
  const owned = await startMembers({ name: 'own', nodes, agent: options.agent, pools: [pool] });
  const asking = await startMembers({ name: 'cas', nodes, agent: compareAndSetAgent, pools: [pool] });
  try {
    const rates = { owned: [] as number[], asking: [] as number[] };
    const slots = new Map([owned, asking].map((members) => [members, prepare(members, options)]));
    for (let round = 0; round <= rounds; round++) {
      const order = round % 2 === 0 ? [owned, asking] : [asking, owned];
      for (const members of order) {
        const rate = await burst(members, slots.get(members)!, options);
        // The first round warms up.
        if (round > 0) (members === owned ? rates.owned : rates.asking).push(rate);
      }
      progress('pods at once on several nodes', round + 1, rounds + 1);
    }
    const [a, b] = [quantile(rates.owned, 0.5), quantile(rates.asking, 0.5)];
    return { nodes, pods: nodes * podsPerNode, owned: a, compareAndSet: b, ratio: a / b };
  } finally {
    await owned.close();
    await asking.close();
  }
}

interface Prepared {
  readonly member: Member;
  readonly adds: readonly Job[];
  readonly deletes: readonly Job[];
}

function prepare({ members }: Members, { binDir, podsPerNode }: BurstOptions): Prepared[] {
  return members.map((member) => {
    const contender = podwireContender(member.host, false, binDir, member.agent);
    const pods = Array.from({ length: podsPerNode }, (_, index): PodSlot => {
      const netns = member.host.addPod().path;
      return { index, containerId: `${member.host.name}-${index}`, netns };
    });
    return {
      member,
      adds: pods.map((pod) => named(contender.add(pod), pod)),
      deletes: pods.map((pod) => contender.delete(pod, '{}')),
    };
  });
}

/** As Kubernetes names pods. */
const named = (job: Job, { index }: PodSlot): Job =>
  job.map((step) => ({
    ...step,
    environment: { ...step.environment, CNI_ARGS: `K8S_POD_NAMESPACE=bench;K8S_POD_NAME=pod-${index}` },
  }));

/** All pods of all nodes, then takes them off again. @returns pods a second */
async function burst(
  members: Members,
  prepared: readonly Prepared[],
  options: BurstOptions,
): Promise<number> {
  const begin = performance.now();
  await runAll(
    prepared.map(({ member, adds }) => ({ member, jobs: adds })),
    options,
  );
  const elapsed = performance.now() - begin;
  await runAll(
    prepared.map(({ member, deletes }) => ({ member, jobs: deletes })),
    options,
  );
  return (prepared.length * options.podsPerNode * 1_000) / elapsed;
}

async function runAll(
  work: readonly { readonly member: Member; readonly jobs: readonly Job[] }[],
  { podsPerNode, signal }: BurstOptions,
): Promise<void> {
  const outcomes = await Promise.all(
    work.map(({ member, jobs }) => launch(member.host.namespace, podsPerNode, jobs, signal)),
  );
  const failed = outcomes.flat().find(({ status }) => status !== 0);
  if (failed !== undefined)
    throw new Error(`the plugin ended with ${failed.status}: ${failed.output}${failed.error}`);
}
