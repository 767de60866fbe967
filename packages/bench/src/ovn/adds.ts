/**
 * Pods of the model ovn until their gateway has answered a first ping, in turns with pods that only have the rows which OVN needs; one
 * at a time and many at once.
 */
import type { TestNamespace } from '@podwire/testkit';
import type { Programs, StepCall } from '../call.js';
import { addPods, type Candidate, type PodSlot } from '../candidates.js';
import { type JobResult, launchAll } from '../launcher.js';
import { pairedRatio, summarize, type Summary } from '../statistics.js';
import { addBarePods, type BarePod, type BarePorts, openBarePorts } from './bare-ports.js';
import { defaultSwitch, type OvnCluster, ovnCandidate } from './cluster.js';

export interface OvnAddOptions {
  /** One at a time, each with its DEL behind it. */
  readonly pods: number;
  readonly burst: { readonly pods: number; readonly rounds: number };
}

/** Milliseconds. */
export interface OvnAdds {
  /** Until the plugin has answered. */
  readonly answered: Summary;
  /** Until the first ping has been answered. */
  readonly reached: Summary;
  readonly deleted: Summary;
  /** Rows alone, until the first ping has been answered. */
  readonly bare: Summary;
  readonly burst: {
    readonly count: number;
    /** Until all have been answered, for each round. */
    readonly podwire: readonly number[];
    readonly bare: readonly number[];
    /** Pods a second, of bare ones: the median over the rounds. */
    readonly ratio: number;
  };
}

type Call = OvnAddOptions & Programs & StepCall;

export async function measureOvnAdds(cluster: OvnCluster, options: Call): Promise<OvnAdds> {
  const [member, node] = [cluster.members[0]!, cluster.nodes[0]!];
  const candidate = ovnCandidate(member, options.binDir);
  const bare = await openBarePorts(cluster.central, node);
  try {
    const count = Math.max(1, options.burst.pods);
    const [slots, barePods] = [addPods(member.host, count), await addBarePods(node, count)];
    const sides: Sides = { candidate, slots, bare, barePods, settle: () => settle(cluster) };
    const single = await takeTurns(sides, options);
    return { ...single, burst: await burstInTurns(sides, options) };
  } finally {
    await bare.close();
  }
}

interface Sides {
  readonly candidate: Candidate;
  readonly slots: readonly PodSlot[];
  readonly bare: BarePorts;
  readonly barePods: readonly BarePod[];
  /** Resolves when no node has anything left to do: the next one begins on a machine that is idle. */
  readonly settle: () => Promise<unknown>;
}

const settle = ({ central }: OvnCluster): Promise<string> =>
  central.nbctl('--timeout=60', '--wait=hv', 'sync');

/** Of a first round, which only warms up. */
const warmUp = 5;

async function takeTurns(sides: Sides, { pods, signal, progress }: Call): Promise<Omit<OvnAdds, 'burst'>> {
  const [answered, reached, deleted, bare]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let index = 0; index < pods + warmUp; index++) {
    const own = await addOne(sides, signal);
    const other = await addBare(sides);
    if (index >= warmUp) {
      answered.push(own.answered);
      reached.push(own.reached);
      deleted.push(own.deleted);
      bare.push(other);
    }
    progress('ADD of the model ovn', index + 1, pods + warmUp);
  }
  return {
    ...{ answered: summarize(answered), reached: summarize(reached) },
    ...{ deleted: summarize(deleted), bare: summarize(bare) },
  };
}

async function addOne({ candidate, slots, settle }: Sides, signal: AbortSignal) {
  const { namespace } = candidate.host;
  const [slot] = slots;
  const [added] = await launchAll(namespace, 1, [candidate.add(slot!)], signal);
  const answered = durationOf(added!);
  const reached = answered + (await timePing(candidate.host.pods[slot!.index]!));
  const [removed] = await launchAll(namespace, 1, [candidate.delete(slot!, added!.output)], signal);
  await settle();
  return { answered, reached, deleted: durationOf(removed!) };
}

const durationOf = ({ start, end }: JobResult): number => end - start;

async function addBare({ bare, barePods, settle }: Sides): Promise<number> {
  const [pod] = barePods;
  const start = performance.now();
  await bare.add([pod!]);
  const installed = performance.now() - start;
  const time = installed + (await timePing(pod!.namespace));
  await bare.remove([pod!]);
  await settle();
  return time;
}

async function timePing(pod: TestNamespace): Promise<number> {
  const start = performance.now();
  await pod.run(['ping', '-n', '-c', '1', '-W', '30', defaultSwitch.gateway]);
  return performance.now() - start;
}

async function burstInTurns(
  sides: Sides,
  { burst: { pods: count, rounds }, signal, progress }: Call,
): Promise<OvnAdds['burst']> {
  const [podwire, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const own = await burstByPodwire(sides, signal);
    const other = await burstByRows(sides);
    // The first round only warms up.
    if (round > 0) {
      podwire.push(own);
      bare.push(other);
    }
    progress(`${count} pods of the model ovn at once`, round + 1, rounds + 1);
  }
  return { count, podwire, bare, ratio: pairedRatio(bare, podwire) };
}

async function burstByPodwire({ candidate, slots, settle }: Sides, signal: AbortSignal): Promise<number> {
  const { namespace, pods } = candidate.host;
  const start = performance.now();
  const adds = slots.map((slot) => candidate.add(slot));
  const added = await launchAll(namespace, slots.length, adds, signal);
  await Promise.all(slots.map(({ index }) => timePing(pods[index]!)));
  const time = performance.now() - start;
  const deletes = slots.map((slot, index) => candidate.delete(slot, added[index]!.output));
  await launchAll(namespace, slots.length, deletes, signal);
  await settle();
  return time;
}

async function burstByRows({ bare, barePods, settle }: Sides): Promise<number> {
  const start = performance.now();
  await bare.add(barePods);
  await Promise.all(barePods.map(({ namespace }) => timePing(namespace)));
  const time = performance.now() - start;
  await bare.remove(barePods);
  await settle();
  return time;
}
