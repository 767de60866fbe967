import type { AgentFigures } from './agent-figures.js';
import type { CandidateName } from './candidates.js';
import type { Measurement, Operation } from './measure.js';
import { type Comparison, evaluate, least, most } from './thresholds.js';

/** Figures with their thresholds; figures without a measurement are left out. */
export function compare(measurements: readonly Measurement[], agent: AgentFigures | undefined): Comparison[] {
  const workers = [...new Set(measurements.map((one) => one.workers))];
  const [single = 1, many = single] = workers;
  const find = (candidate: CandidateName, operation: Operation, count: number): Measurement | undefined =>
    measurements.find(
      (one) => one.candidate === candidate && one.operation === operation && one.workers === count,
    );
  const ratio = (
    name: string,
    pick: (measurement: Measurement) => number,
    [ours, theirs]: readonly [Measurement | undefined, Measurement | undefined],
    limit: Comparison['limit'],
  ): Comparison[] =>
    ours === undefined || theirs === undefined ? [] : [evaluate(name, pick(ours) / pick(theirs), '×', limit)];
  const median = (one: Measurement): number => one.summary.median;
  const rate = (one: Measurement): number => one.podsPerSecond;
  const pair = (ours: CandidateName, theirs: CandidateName, operation: Operation, count: number) =>
    [find(ours, operation, count), find(theirs, operation, count)] as const;
  const spread = (operation: Operation, count: number): Comparison[] => {
    const ours = find('podwire', operation, count);
    const name = `${operation} p99 of p50, ${count} at once`;
    return ours === undefined ? [] : [evaluate(name, ours.summary.p99 / ours.summary.median, '×', most(3))];
  };
  return [
    ...ratio('ADD p50 of ptp', median, pair('podwire', 'ptp', 'ADD', single), most(0.4)),
    ...ratio('DEL p50 of ptp', median, pair('podwire', 'ptp', 'DEL', single), most(0.1)),
    ...ratio('ADD p50 of the chain', median, pair('podwire-chain', 'chain', 'ADD', single), most(0.1)),
    ...ratio('DEL p50 of the chain', median, pair('podwire-chain', 'chain', 'DEL', single), most(0.03)),
    ...ratio(`ADD pods/s of ptp, ${many} at once`, rate, pair('podwire', 'ptp', 'ADD', many), least(4)),
    ...ratio(`DEL pods/s of ptp, ${many} at once`, rate, pair('podwire', 'ptp', 'DEL', many), least(4)),
    ...workers.flatMap((count) => [...spread('ADD', count), ...spread('DEL', count)]),
    ...ratio('ADD p50 of the floor', median, pair('podwire', 'floor', 'ADD', single), most(2)),
    ...ratio('DEL p50 of the floor', median, pair('podwire', 'floor', 'DEL', single), most(4)),
    ...(agent === undefined ? [] : compareAgent(agent)),
    ...(agent === undefined ? [] : compareCold(agent, find('ptp', 'ADD', many), find('ptp', 'DEL', many))),
  ];
}

function compareAgent(agent: AgentFigures): Comparison[] {
  const with_ = `with ${agent.endpoints} endpoints`;
  return [
    evaluate(`agent resident ${with_}`, agent.residentBytes / 1e6, 'MB', most(100)),
    evaluate(`agent idle ${with_}`, agent.idleShare * 100, '%', most(1)),
    evaluate(`agent restart ${with_}`, agent.restart, 'ms', most(1_000)),
    evaluate(`ADD ${with_} of that with 10`, agent.addWithMany / agent.addWithFew, '×', most(1.3)),
  ];
}

/** Beside the peer of the same run, which has no agent that could be cold. */
function compareCold(
  { cold }: AgentFigures,
  additions: Measurement | undefined,
  deletions: Measurement | undefined,
): Comparison[] {
  const beside = (operation: Operation, ours: number, peer: Measurement | undefined): Comparison[] => {
    if (peer === undefined) return [];
    const name = `${operation} pods/s of ptp, ${peer.workers} at once, agent just started`;
    return [evaluate(name, ours / peer.podsPerSecond, '×', least(4))];
  };
  return [
    evaluate('start of the agent to its first ADD', cold.firstAdd, 'ms'),
    ...beside('ADD', cold.addsPerSecond, additions),
    ...beside('DEL', cold.deletesPerSecond, deletions),
  ];
}
