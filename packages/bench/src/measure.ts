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
  const tallies = new Map(plan.contenders.map(({ name }) => [name, { samples: [], elapsed: 0 }]));
  for (let first = 0; first < podCount(plan); first += plan.batch) {
    for (const contender of plan.contenders) {
      const pods = podsOf(plan, contender).slice(first, first + plan.batch);
      addTo(tallies.get(contender.name), await run(contender, pods));
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

function addTo(tally: Tally | undefined, outcomes: readonly JobResult[]): void {
  if (tally === undefined || outcomes.length === 0) return;
  tally.samples.push(...outcomes.map(({ start, end }) => end - start));
  tally.elapsed +=
    Math.max(...outcomes.map(({ end }) => end)) - Math.min(...outcomes.map(({ start }) => start));
}

function conclude(
  contender: ContenderName,
  operation: Operation,
  workers: number,
  { samples, elapsed }: Tally = { samples: [], elapsed: 0 },
): Measurement {
  const podsPerSecond = (samples.length * 1_000) / elapsed;
  return { contender, operation, workers, summary: summarize(samples), podsPerSecond, elapsed, samples };
}

/** Puts the rounds of equal measurements together. */
export function merge(measurements: readonly Measurement[]): Measurement[] {
  const groups = new Map<string, Measurement[]>();
  for (const one of measurements) {
    const key = `${one.contender} ${one.operation} ${one.workers}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map(([first, ...rest]) =>
    rest.reduce((sum, one) => {
      const samples = [...sum.samples, ...one.samples];
      return conclude(sum.contender, sum.operation, sum.workers, {
        samples,
        elapsed: sum.elapsed + one.elapsed,
      });
    }, first as Measurement),
  );
}

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
