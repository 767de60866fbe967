import type { ClusterSnapshot } from '../snapshot.js';
import { findInBlocks } from './blocks.js';
import { byKind, type Evidence, type Finding, type FindingOptions } from './finding.js';
import { findInLedgers } from './allocation-records.js';
import { findElsewhere } from './others.js';
import { inTurns } from '../turns.js';

export type { Finding, FindingKind, FindingOptions, Mend, Remedy } from './finding.js';

/** Everything that is wrong in what was read, beside other work of the process. */
export async function findProblemsInTurns(
  snapshot: ClusterSnapshot,
  options: FindingOptions,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  await inTurns(search(snapshot, options), (found) => void findings.push(...found));
  return findings.sort(byKind);
}

function* search(snapshot: ClusterSnapshot, options: FindingOptions): Generator<Finding[]> {
  const imported = snapshot.allocationRecords.filter(({ value }) => value.imported === true);
  const importedBooks = new Set(imported.map(({ value }) => `${value.cidr} ${value.node}`));
  const allocationRecords = new Map(snapshot.allocationRecords.map((ledger) => [ledger.key, ledger]));
  const evidence: Evidence = {
    ...options,
    snapshot,
    blockRemedies: new Map(),
    importedBooks,
    allocationRecords,
  };
  yield* findInBlocks(evidence);
  yield* findInLedgers(evidence);
  yield findElsewhere(evidence);
}

/** For `ipam check`: objects of the last minute are left alone. */
export const findingDefaults = {
  grace: 60_000,
  pendingLimit: 120_000,
  requestLimit: 120_000,
} as const;
