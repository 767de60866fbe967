/** One picture of everything, out of one round of answers. Pure. */
import type { NodeAnswers } from '../answers.js';
import type { DriftRow, DashboardView, TrendPoint } from '../shapes.js';
import type { ClusterFacts, SavedReport, Wording } from '../sources.js';
import { lostNodes, viewErrors } from './errors.js';
import { viewMatrix } from './matrix.js';
import { viewNodes } from './nodes.js';
import { mostPeers, viewPeers, viewSessions } from './peers.js';
import { mostPods, viewPods } from './pods.js';
import { viewPools } from './pools.js';

export interface Round {
  readonly title: string;
  readonly answers: readonly NodeAnswers[];
  /** Undefined: no store is named, or it has not answered yet. */
  readonly cluster: ClusterFacts | undefined;
  /** Why the store did not answer; empty when it did, or is not asked. */
  readonly clusterFailure: string;
  readonly report: SavedReport | undefined;
  readonly trends: ReadonlyMap<string, readonly TrendPoint[]>;
  readonly drifts: readonly DriftRow[];
}

export function buildView(round: Round, wording: Wording): DashboardView {
  const { title, answers, cluster, clusterFailure, report, trends, drifts } = round;
  const pods = viewPods(answers, wording);
  const peers = viewPeers(answers);
  const nodes = viewNodes(answers, cluster?.nodes);
  const storeError = {
    at: null,
    node: '',
    subject: 'store',
    code: 'STORE_UNAVAILABLE',
    message: clusterFailure,
  };
  return {
    title,
    nodes,
    pods: pods.slice(0, mostPods),
    pools: viewPools(answers, cluster?.shown, trends),
    peers,
    sessions: viewSessions(answers),
    matrix: viewMatrix(report),
    drift: drifts,
    errors: viewErrors(answers, [...(clusterFailure === '' ? [] : [storeError]), ...lostNodes(nodes)]),
    notes: [
      ...(pods.length > mostPods ? [`${pods.length} pods; the page shows the first ${mostPods}.`] : []),
      ...(peers.length >= mostPeers ? [`The page shows the first ${mostPeers} paths between nodes.`] : []),
      ...noteStore(answers, cluster, clusterFailure),
    ],
  };
}

/** Without the store, a page of a cluster's node knows of the others only as peers. */
function noteStore(
  answers: readonly NodeAnswers[],
  cluster: ClusterFacts | undefined,
  failure: string,
): string[] {
  const isInCluster = answers.some(({ status }) => status?.cluster != null);
  if (!isInCluster || cluster !== undefined || failure !== '') return [];
  return ['The store is not asked: start with --store or --config to see every node and the shared pools.'];
}

/** Difference between two pictures; undefined when there is none. */
export function findChange(before: DashboardView, after: DashboardView): Partial<DashboardView> | undefined {
  const parts = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof DashboardView]),
  );
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
