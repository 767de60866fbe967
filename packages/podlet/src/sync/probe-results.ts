import { findEarlierResult } from '../lifecycle/earlier-results.js';
import type { ProbeKind } from '../parts.js';
import type { ProbeWatchContext } from './sync-context.js';

/** The latest result of a probe; until this process has one, the one that an earlier process had. */
export function probeResultsOf({
  worker,
  view,
  prober,
}: Pick<ProbeWatchContext, 'worker' | 'view' | 'prober'>) {
  return (name: string, kind: ProbeKind): boolean | undefined =>
    prober.probeResult(worker.uid, name, kind) ??
    findEarlierResult(worker.earlierResults, view.observed(worker.uid), name, kind);
}
