import { pings } from '@podwire/testkit';
import type { Contender, ContenderName, PodSlot } from './contenders.js';
import { type Job, type JobResult, launch } from './launcher.js';
import { type Summary, summarize } from './statistics.js';

export type Operation = 'ADD' | 'DEL';

/** What one contender took for one operation with so many at once. */
export interface Measurement {
  readonly contender: ContenderName;
  readonly operation: Operation;
  readonly workers: number;
  readonly summary: Summary;
  readonly podsPerSecond: number;
  /** milliseconds in all */
  readonly elapsed: number;
  /** Milliseconds that the daemon behind the plugin has computed; absent for plugins without one. */
  readonly daemonTime: number | undefined;
  /** milliseconds, in the order in which they were taken */
  readonly samples: readonly number[];
}

export interface Plan {
  readonly contenders: readonly Contender[];
  /** The pods of each contender, all of the same number. */
  readonly pods: ReadonlyMap<ContenderName, readonly PodSlot[]>;
  readonly workers: number;
  /** Pods of one contender before the next one's turn: noise of the machine then meets all of them alike. */
  readonly batch: number;
  readonly signal: AbortSignal;
  /** Called after each batch. */
  readonly progress: (done: number, total: number) => void;
}

interface Tally {
  readonly samples: number[];
  /** milliseconds that the batches took as a whole */
  elapsed: number;
  daemonTime: number | undefined;
}

/** Attaches every pod of every contender, checks that some can be reached, and detaches them again. */
export async function measure(plan: Plan): Promise<Measurement[]> {
  const results = new Map<PodSlot, string>();
  const resultOf = (pod: PodSlot): string => results.get(pod) ?? '';
  const total = plan.contenders.length * podCount(plan) * 2;
  let done = 0;
  const advance = (pods: number): void => plan.progress((done += pods), total);
  const added = await measureOperation(plan, 'ADD', advance, async (contender, pods) => {
    const outcomes = await runBatch(
      plan,
      contender,
      'ADD',
      pods.map((pod) => contender.add(pod)),
    );
    pods.forEach((pod, index) => results.set(pod, outcomes[index]?.output ?? ''));
    return outcomes;
  });
  for (const contender of plan.contenders) await checkReachability(plan, contender, resultOf);
  const deleted = await measureOperation(plan, 'DEL', advance, (contender, pods) =>
    runBatch(
      plan,
      contender,
      'DEL',
      pods.map((pod) => contender.delete(pod, resultOf(pod))),
    ),
  );
  for (const contender of plan.contenders) await contender.settle?.();
  return [...added, ...deleted];
}

async function measureOperation(
  plan: Plan,
  operation: Operation,
  advance: (pods: number) => void,
  run: (contender: Contender, pods: readonly PodSlot[]) => Promise<JobResult[]>,
): Promise<Measurement[]> {
  const tallies = new Map(plan.contenders.map(({ name }) => [name, emptyTally()]));
  for (let first = 0; first < podCount(plan); first += plan.batch) {
    for (const contender of plan.contenders) {
      const pods = podsOf(plan, contender).slice(first, first + plan.batch);
      const computed = contender.processorTime?.();
      const outcomes = await run(contender, pods);
      const computedNow = contender.processorTime?.();
      addTo(tallies.get(contender.name), outcomes, difference(computed, computedNow));
      advance(pods.length);
    }
  }
  return plan.contenders.map(({ name }) => conclude(name, operation, plan.workers, tallies.get(name)));
}

const podsOf = (plan: Plan, contender: Contender): readonly PodSlot[] => plan.pods.get(contender.name) ?? [];
const podCount = (plan: Plan): number => Math.max(...plan.contenders.map((one) => podsOf(plan, one).length));

async function runBatch(
  plan: Plan,
  contender: Contender,
  operation: Operation,
  jobs: readonly Job[],
): Promise<JobResult[]> {
  const outcomes = await launch(contender.host.namespace, plan.workers, jobs, plan.signal);
  const failed = outcomes.find(({ status }) => status !== 0);
  if (failed !== undefined) {
    const why = `${failed.output}${failed.error}`.trim();
    throw new Error(`${contender.title}: ${operation} ended with ${failed.status}: ${why}`);
  }
  return outcomes;
}

const emptyTally = (): Tally => ({ samples: [], elapsed: 0, daemonTime: undefined });

const difference = (before: number | undefined, after: number | undefined): number | undefined =>
  before === undefined || after === undefined ? undefined : after - before;

function addTo(
  tally: Tally | undefined,
  outcomes: readonly JobResult[],
  daemonTime: number | undefined,
): void {
  if (tally === undefined || outcomes.length === 0) return;
  if (daemonTime !== undefined) tally.daemonTime = (tally.daemonTime ?? 0) + daemonTime;
  tally.samples.push(...outcomes.map(({ start, end }) => end - start));
  tally.elapsed +=
    Math.max(...outcomes.map(({ end }) => end)) - Math.min(...outcomes.map(({ start }) => start));
}

function conclude(
  contender: ContenderName,
  operation: Operation,
  workers: number,
  tally: Tally = emptyTally(),
): Measurement {
  const podsPerSecond = (tally.samples.length * 1_000) / tally.elapsed;
  return { contender, operation, workers, summary: summarize(tally.samples), podsPerSecond, ...tally };
}

/** Puts the rounds of equal measurements together. */
export function merge(measurements: readonly Measurement[]): Measurement[] {
  const groups = new Map<string, [Measurement, ...Measurement[]]>();
  for (const one of measurements) {
    const key = `${one.contender} ${one.operation} ${one.workers}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].map((group) => {
    const { contender, operation, workers } = group[0];
    return conclude(contender, operation, workers, {
      samples: group.flatMap(({ samples }) => samples),
      elapsed: sumOf(group.map(({ elapsed }) => elapsed)),
      daemonTime: group[0].daemonTime && sumOf(group.map(({ daemonTime }) => daemonTime ?? 0)),
    });
  });
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** A contender that answers quickly and does nothing would win: every fiftieth pod must answer a ping. */
async function checkReachability(
  plan: Plan,
  contender: Contender,
  resultOf: (pod: PodSlot) => string,
): Promise<void> {
  for (const pod of podsOf(plan, contender).filter((_, index) => index % 50 === 0)) {
    const address = contender.addressOf(pod, resultOf(pod));
    if (address !== undefined && !(await pings(contender.host.namespace, address))) {
      throw new Error(`${contender.title}: ${address} does not answer`);
    }
  }
}
