/** Checks the whole cluster, and repairs what is safe to repair. */
import type { Revision } from '@podwire/store';
import { type ClusterAccess, commit } from './access.js';
import {
  type Problem,
  findingDefaults,
  type ProblemOptions,
  findProblemsInTurns,
  type Repair,
} from './problems/index.js';
import { type ClusterSnapshot, readCluster } from './snapshot.js';

export interface CheckOptions extends Partial<
  Pick<ProblemOptions, 'grace' | 'pendingLimit' | 'requestLimit'>
> {
  /** Milliseconds between two checks: a problem that the second does not find was work in progress. 1 s by default. */
  readonly settle?: number;
}

export interface CheckReport {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly revision: Revision;
  readonly looked: {
    readonly pools: number;
    readonly blocks: number;
    readonly nodes: number;
    readonly addresses: number;
    readonly workloads: number;
  };
  readonly problems: readonly Problem[];
}

/** Everything at one revision; when something is found, once more, and only what is found both times counts. */
export async function checkCluster(
  access: ClusterAccess,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<CheckReport> {
  const first = await look(access, options, signal);
  if (first.problems.length === 0) return first;
  await access.clock.sleep(options.settle ?? 1_000, signal);
  const second = await look(access, options, signal);
  const before = new Set(first.problems.map(({ id }) => id));
  return { ...second, problems: second.problems.filter(({ id }) => before.has(id)) };
}

/** One look. */
export async function look(
  access: ClusterAccess,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<CheckReport> {
  const snapshot = await readCluster(access, signal);
  const { grace, pendingLimit, requestLimit } = { ...findingDefaults, ...options };
  const now = access.clock.now();
  const problems = await findProblemsInTurns(snapshot, {
    keys: access.keys,
    now,
    grace,
    pendingLimit,
    requestLimit,
  });
  return { at: now, revision: snapshot.revision, looked: count(snapshot), problems };
}

function count({
  pools,
  blocks,
  nodes,
  allocationRecords,
  workloads,
}: ClusterSnapshot): CheckReport['looked'] {
  return {
    pools: pools.size,
    blocks: blocks.size,
    nodes: nodes.size,
    addresses: allocationRecords.reduce((sum, { value }) => sum + value.entries.length, 0),
    workloads: workloads.length,
  };
}

export interface FixOptions extends CheckOptions {
  /** Problems of an earlier report: some are repaired only when they persist. */
  readonly foundBefore?: ReadonlySet<string>;
  /** Only these. */
  readonly only?: ReadonlySet<string>;
}

export interface FixReport extends CheckReport {
  readonly repaired: readonly { readonly problem: Problem; readonly what: string }[];
  /** Problems that are left, and why; `problems` is the same without reasons. */
  readonly left: readonly { readonly problem: Problem; readonly why: string }[];
}

/** A repair may reveal another problem (a block without an owner), which the next round repairs. */
const rounds = 5;

/**
 * Repairs what is safe: each write depends on what was seen, and on the absence of the nodes that could object.
 */
export async function fixCluster(
  access: ClusterAccess,
  options: FixOptions,
  signal: AbortSignal,
): Promise<FixReport> {
  const repaired: { problem: Problem; what: string }[] = [];
  let report = await checkCluster(access, options, signal);
  for (let round = 0; round < rounds; round++) {
    const done = await repairAll(access, selectRepairs(report.problems, options), signal);
    if (done.length === 0) break;
    repaired.push(...done);
    report = await look(access, options, signal);
  }
  const left = report.problems.map((problem) => ({ problem, why: explain(problem, options) }));
  return { ...report, repaired, left };
}

interface Work {
  readonly repair: Repair;
  readonly problems: readonly Problem[];
}

function selectRepairs(problems: readonly Problem[], options: FixOptions): Work[] {
  const work = new Map<Repair, Problem[]>();
  for (const problem of problems) {
    const { fix, id } = problem;
    if (fix.how === 'leave' || (fix.patient && options.foundBefore?.has(id) !== true)) continue;
    if (options.only?.has(id) === false) continue;
    const known = work.get(fix);
    if (known === undefined) work.set(fix, [problem]);
    else known.push(problem);
  }
  return [...work].map(([repair, all]) => ({ repair, problems: all }));
}

async function repairAll(access: ClusterAccess, work: readonly Work[], signal: AbortSignal) {
  const repaired: { problem: Problem; what: string }[] = [];
  for (const { repair, problems } of work) {
    // A repair whose condition fails is looked at again in the next round.
    if ((await commit(access, repair.transaction, signal)) === undefined) continue;
    repaired.push(...problems.map((problem) => ({ problem, what: repair.what })));
  }
  return repaired;
}

function explain({ fix, id }: Problem, { foundBefore, only }: FixOptions): string {
  if (fix.how === 'leave') return fix.why;
  if (only?.has(id) === false) return 'it is not in every report';
  if (fix.patient && foundBefore?.has(id) !== true) {
    return 'it was found for the first time, and may be on its way: check again later with --from-report of this one';
  }
  return 'it changed while it was being repaired: check again';
}
