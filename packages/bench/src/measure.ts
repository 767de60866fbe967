import { pings } from '@podwire/testkit';
import type { Candidate, CandidateName, PodSlot } from './candidates.js';
import { type Job, type JobResult, launch } from './launcher.js';
import { type Summary, summarize } from './statistics.js';

export type Operation = 'ADD' | 'DEL';

/** Time of one candidate for one operation with so many at once. */
export interface Measurement {
  readonly candidate: CandidateName;
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
  readonly candidates: readonly Candidate[];
  /** The pods of each candidate, all of the same number. */
  readonly pods: ReadonlyMap<CandidateName, readonly PodSlot[]>;
  readonly workers: number;
  /** Pods of one candidate before the next one's turn: noise of the machine then meets all of them alike. */
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

/** Attaches every pod of every candidate, checks that some can be reached, and detaches them again. */
export async function measure(plan: Plan): Promise<Measurement[]> {
  const results = new Map<PodSlot, string>();
  const resultOf = (pod: PodSlot): string => results.get(pod) ?? '';
  const total = plan.candidates.length * podCount(plan) * 2;
  let done = 0;
  const advance = (pods: number): void => plan.progress((done += pods), total);
  const added = await measureOperation(plan, 'ADD', advance, async (candidate, pods) => {
    const outcomes = await runBatch(
      plan,
      candidate,
      'ADD',
      pods.map((pod) => candidate.add(pod)),
    );
    pods.forEach((pod, index) => results.set(pod, outcomes[index]?.output ?? ''));
    return outcomes;
  });
  for (const candidate of plan.candidates) await checkReachability(plan, candidate, resultOf);
  const deleted = await measureOperation(plan, 'DEL', advance, (candidate, pods) =>
    runBatch(
      plan,
      candidate,
      'DEL',
      pods.map((pod) => candidate.delete(pod, resultOf(pod))),
    ),
  );
  for (const candidate of plan.candidates) await candidate.settle?.();
  return [...added, ...deleted];
}

async function measureOperation(
  plan: Plan,
  operation: Operation,
  advance: (pods: number) => void,
  run: (candidate: Candidate, pods: readonly PodSlot[]) => Promise<JobResult[]>,
): Promise<Measurement[]> {
  const tallies = new Map(plan.candidates.map(({ name }) => [name, emptyTally()]));
  for (let first = 0; first < podCount(plan); first += plan.batch) {
    for (const candidate of plan.candidates) {
      const pods = podsOf(plan, candidate).slice(first, first + plan.batch);
      const computed = candidate.processorTime?.();
      const outcomes = await run(candidate, pods);
      const computedNow = candidate.processorTime?.();
      addTo(tallies.get(candidate.name), outcomes, difference(computed, computedNow));
      advance(pods.length);
    }
  }
  return plan.candidates.map(({ name }) => conclude(name, operation, plan.workers, tallies.get(name)));
}

const podsOf = (plan: Plan, candidate: Candidate): readonly PodSlot[] => plan.pods.get(candidate.name) ?? [];
const podCount = (plan: Plan): number => Math.max(...plan.candidates.map((one) => podsOf(plan, one).length));

async function runBatch(
  plan: Plan,
  candidate: Candidate,
  operation: Operation,
  jobs: readonly Job[],
): Promise<JobResult[]> {
  const outcomes = await launch(candidate.host.namespace, plan.workers, jobs, plan.signal);
  const failed = outcomes.find(({ status }) => status !== 0);
  if (failed !== undefined) {
    const why = `${failed.output}${failed.error}`.trim();
    throw new Error(`${candidate.title}: ${operation} ended with ${failed.status}: ${why}`);
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
  candidate: CandidateName,
  operation: Operation,
  workers: number,
  tally: Tally = emptyTally(),
): Measurement {
  const podsPerSecond = (tally.samples.length * 1_000) / tally.elapsed;
  return { candidate, operation, workers, summary: summarize(tally.samples), podsPerSecond, ...tally };
}

/** Puts the rounds of equal measurements together. */
export function merge(measurements: readonly Measurement[]): Measurement[] {
  const groups = new Map<string, [Measurement, ...Measurement[]]>();
  for (const one of measurements) {
    const key = `${one.candidate} ${one.operation} ${one.workers}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].map((group) => {
    const { candidate, operation, workers } = group[0];
    return conclude(candidate, operation, workers, {
      samples: group.flatMap(({ samples }) => samples),
      elapsed: sumOf(group.map(({ elapsed }) => elapsed)),
      daemonTime: group[0].daemonTime && sumOf(group.map(({ daemonTime }) => daemonTime ?? 0)),
    });
  });
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** A candidate that answers quickly and does nothing would win: every fiftieth pod must answer a ping. */
async function checkReachability(
  plan: Plan,
  candidate: Candidate,
  resultOf: (pod: PodSlot) => string,
): Promise<void> {
  for (const pod of podsOf(plan, candidate).filter((_, index) => index % 50 === 0)) {
    const address = candidate.addressOf(pod, resultOf(pod));
    if (address !== undefined && !(await pings(candidate.host.namespace, address))) {
      throw new Error(`${candidate.title}: ${address} does not answer`);
    }
  }
}
