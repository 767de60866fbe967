import { setTimeout } from 'node:timers/promises';
import { type Agent, pings } from '@podwire/testkit';
import type { StepCall } from './call.js';
import { type ColdFigures, measureColdAgent } from './cold-agent.js';
import type { Candidate, PodSlot } from './candidates.js';
import { type Job, type JobResult, launchAll, previousOutput } from './launcher.js';
import { processorTime, residentBytes } from './process-cost.js';
import { quantile } from './statistics.js';

/** Costs of the agent itself. */
export interface AgentFigures {
  readonly endpoints: number;
  /** bytes resident with so many endpoints, after the idle time */
  readonly residentBytes: number;
  /** share of one core while nothing is asked */
  readonly idleShare: number;
  readonly idleSeconds: number;
  /** milliseconds from starting the process until its socket answers, median of {@link restarts} */
  readonly restart: number;
  readonly restarts: readonly number[];
  /** Median ADD in milliseconds with 10 endpoints (before and after) and with all. */
  readonly addWithFew: number;
  readonly addWithMany: number;
  readonly cold: ColdFigures;
}

export interface AgentPlan extends StepCall {
  readonly agent: Agent;
  readonly candidate: Candidate;
  /** Endpoints that fill the node. */
  readonly pods: readonly PodSlot[];
  /** Attached and detached again to see what an ADD costs. */
  readonly spare: readonly PodSlot[];
  /** Pods that an agent gets at once that has just started. */
  readonly burst: number;
  readonly workers: number;
  readonly idleSeconds: number;
}

const few = 10;
const restartCount = 3;

/** Fills the node and looks at the agent; everything is detached again at the end. */
export async function measureAgent(plan: AgentPlan): Promise<AgentFigures> {
  const { pods, progress } = plan;
  const results = new Map<PodSlot, string>();
  const step = (name: string, done: number): void => progress(name, done, 7);
  step('a cold agent', 0);
  const cold = await measureColdAgent({ ...plan, pods: pods.slice(0, plan.burst) });
  await attach(plan, pods.slice(0, few), results);
  step('ADD with few endpoints', 1);
  await addCosts(plan); // to warm up
  const before = await addCosts(plan);
  step('attach all', 2);
  await attach(plan, pods.slice(few), results);
  step('ADD with all endpoints', 3);
  const addWithMany = quantile(await addCosts(plan), 0.5);
  step('idle', 4);
  const idleShare = await measureIdle(plan.agent.pid, plan.idleSeconds, plan.signal);
  const resident = residentBytes(plan.agent.pid);
  step('restart', 5);
  const restarts = await measureRestarts(plan);
  await checkOne(plan, results);
  step('detach all', 6);
  await detach(plan, pods.slice(few), results);
  const after = await addCosts(plan);
  await detach(plan, pods.slice(0, few), results);
  return {
    endpoints: pods.length,
    residentBytes: resident,
    idleShare,
    idleSeconds: plan.idleSeconds,
    restart: quantile(restarts, 0.5),
    restarts,
    addWithFew: quantile([...before, ...after], 0.5),
    addWithMany,
    cold,
  };
}

const run = ({ candidate, signal }: AgentPlan, workers: number, jobs: readonly Job[]): Promise<JobResult[]> =>
  launchAll(candidate.host.namespace, workers, jobs, signal);

async function attach(
  plan: AgentPlan,
  pods: readonly PodSlot[],
  results: Map<PodSlot, string>,
): Promise<void> {
  const outcomes = await run(
    plan,
    plan.workers,
    pods.map((pod) => plan.candidate.add(pod)),
  );
  pods.forEach((pod, index) => results.set(pod, outcomes[index]?.output ?? ''));
}

async function detach(
  plan: AgentPlan,
  pods: readonly PodSlot[],
  results: ReadonlyMap<PodSlot, string>,
): Promise<void> {
  await run(
    plan,
    plan.workers,
    pods.map((pod) => plan.candidate.delete(pod, results.get(pod) ?? '')),
  );
}

/** Milliseconds of each ADD, one at a time, each followed by its DEL: the number of endpoints stays what it is. */
async function addCosts(plan: AgentPlan): Promise<number[]> {
  const jobs = plan.spare.map((pod) => [
    ...plan.candidate.add(pod),
    ...plan.candidate.delete(pod, previousOutput),
  ]);
  return (await run(plan, 1, jobs)).map(({ steps }) => steps[0] ?? Number.NaN);
}

/** Share of one core over some seconds. */
async function measureIdle(pid: number, seconds: number, signal: AbortSignal): Promise<number> {
  const [time, start] = [processorTime(pid), performance.now()];
  await setTimeout(seconds * 1_000, undefined, { signal });
  return (processorTime(pid) - time) / (performance.now() - start);
}

async function measureRestarts({ agent }: AgentPlan): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < restartCount; count += 1) {
    await agent.kill9();
    const start = performance.now();
    await agent.start();
    times.push(performance.now() - start);
  }
  return times;
}

/** The restarted agent must still have what it had. */
async function checkOne(plan: AgentPlan, results: ReadonlyMap<PodSlot, string>): Promise<void> {
  const pod = plan.pods[0];
  if (pod === undefined) return;
  const address = plan.candidate.addressOf(pod, results.get(pod) ?? '');
  if (address === undefined || !(await pings(plan.candidate.host.namespace, address))) {
    throw new Error(`after the restart ${address} does not answer`);
  }
}
