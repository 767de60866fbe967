import type { ClusterSnapshot } from '../snapshot.js';
import { findInBlocks } from './blocks.js';
import { byKind, type Evidence, type Problem, type ProblemOptions } from './problem.js';
import { findInRecords } from './allocation-records.js';
import { findElsewhere } from './others.js';
import { inTurns } from '../turns.js';

export type { Problem, ProblemKind, ProblemOptions, Repair, Fix } from './problem.js';

/** Everything that is wrong in what was read, beside other work of the process. */
export async function findProblemsInTurns(
  snapshot: ClusterSnapshot,
  options: ProblemOptions,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  await inTurns(search(snapshot, options), (found) => void problems.push(...found));
  return problems.sort(byKind);
}

function* search(snapshot: ClusterSnapshot, options: ProblemOptions): Generator<Problem[]> {
  const imported = snapshot.allocationRecords.filter(({ value }) => value.imported === true);
  const importedRecords = new Set(imported.map(({ value }) => `${value.cidr} ${value.node}`));
  const allocationRecords = new Map(snapshot.allocationRecords.map((record) => [record.key, record]));
  const evidence: Evidence = {
    ...options,
    snapshot,
    blockFixes: new Map(),
    importedRecords,
    allocationRecords,
  };
  yield* findInBlocks(evidence);
  yield* findInRecords(evidence);
  yield findElsewhere(evidence);
}

/** For `ipam check`: objects of the last minute are left alone. */
export const findingDefaults = {
  grace: 60_000,
  pendingLimit: 120_000,
  requestLimit: 120_000,
} as const;
