import { setTimeout } from 'node:timers/promises';
import type { Agent } from '@podwire/testkit';
import type { Candidate, PodSlot } from './candidates.js';
import { type Job, type JobResult, launch, launchAll } from './launcher.js';
import { quantile } from './statistics.js';

/** Costs of an agent that has just started: nothing of it has run yet. */
export interface ColdFigures {
  /** milliseconds from starting the process until the plugin has the answer to its ADD, median of {@link firstAdds} */
  readonly firstAdd: number;
  readonly firstAdds: readonly number[];
  /** Many at once, by an agent that has been ready for a moment and has served nothing. */
  readonly addsPerSecond: number;
  readonly deletesPerSecond: number;
}

export interface ColdPlan {
  readonly agent: Agent;
  readonly candidate: Candidate;
  readonly pods: readonly PodSlot[];
  readonly workers: number;
  readonly signal: AbortSignal;
}

const rounds = 3;

/** Starts the agent again before each of them. The node is empty before and after. */
export async function measureColdAgent(plan: ColdPlan): Promise<ColdFigures> {
  const firstAdds: number[] = [];
  const additions: number[] = [];
  const deletions: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    firstAdds.push(await measureFirstAdd(plan));
    await restart(plan.agent);
    const added = await attachAll(plan);
    additions.push(rateOf(added));
    await restart(plan.agent);
    deletions.push(rateOf(await detachAll(plan, added)));
  }
  return {
    firstAdd: quantile(firstAdds, 0.5),
    firstAdds: firstAdds,
    addsPerSecond: quantile(additions, 0.5),
    deletesPerSecond: quantile(deletions, 0.5),
  };
}

async function restart(agent: Agent): Promise<void> {
  await agent.kill9();
  await agent.start();
}

async function measureFirstAdd(plan: ColdPlan): Promise<number> {
  const pod = plan.pods[0]!;
  await plan.agent.kill9();
  const start = performance.now();
  const [, added] = await Promise.all([plan.agent.start(), addUntilServed(plan, pod)]);
  const duration = performance.now() - start;
  await runAll(plan, 1, [plan.candidate.delete(pod, added.output)]);
  return duration;
}

/** The plugin waits for an agent for a second; a start on a busy machine may take longer. */
async function addUntilServed({ candidate, signal }: ColdPlan, pod: PodSlot): Promise<JobResult> {
  for (;;) {
    const [outcome] = await launch(candidate.host.namespace, 1, [candidate.add(pod)], signal);
    if (outcome?.status === 0) return outcome;
    // The plugin answers `try again later`; anything else shows when the agent's start fails.
    await setTimeout(1, undefined, { signal });
  }
}

const attachAll = (plan: ColdPlan): Promise<JobResult[]> =>
  runAll(
    plan,
    plan.workers,
    plan.pods.map((pod) => plan.candidate.add(pod)),
  );

const detachAll = (plan: ColdPlan, added: readonly JobResult[]): Promise<JobResult[]> =>
  runAll(
    plan,
    plan.workers,
    plan.pods.map((pod, index) => plan.candidate.delete(pod, added[index]?.output ?? '')),
  );

const runAll = (
  { candidate, signal }: ColdPlan,
  workers: number,
  jobs: readonly Job[],
): Promise<JobResult[]> => launchAll(candidate.host.namespace, workers, jobs, signal);

/** Pods a second, from the first start to the last end. */
function rateOf(outcomes: readonly JobResult[]): number {
  const first = Math.min(...outcomes.map(({ start }) => start));
  const last = Math.max(...outcomes.map(({ end }) => end));
  return (outcomes.length * 1_000) / (last - first);
}
