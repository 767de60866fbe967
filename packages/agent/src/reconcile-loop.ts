/** Rounds of the agent: the first ones have the node for them alone. */
import { ReconcileLoop, type ReconcileTimes } from '@podwire/desired-state';
import { describeError, PodwireError } from '@podwire/errors';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { reconcile, type ReconcileContext, type ReconcileReport } from './reconcile.js';

export type AgentLoop = ReconcileLoop<ReconcileReport>;

export interface AgentLoopOptions extends ReconcileTimes {
  readonly context: ReconcileContext;
  readonly metrics: Metrics;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/** Until the agent is ready for the first time a round holds the node for it alone, then requests are served meanwhile. */
export function createReconcileLoop(options: AgentLoopOptions): AgentLoop {
  const { context, metrics, elapsed, interval, deadline } = options;
  const { locks, log, readiness } = context;
  let isRecovered = false;

  async function reconcileOnce(signal: AbortSignal): Promise<ReconcileReport> {
    if (isRecovered) return reconcile(context, { signal, elapsed, alone: false });
    // Readiness changes while the node is still held: a request that waits for it must find the agent ready.
    const report = await locks.withAll(signal, () => reconcile(context, { signal, elapsed, alone: true }));
    isRecovered = readiness.ready;
    return report;
  }

  return new ReconcileLoop({
    ...{ interval, deadline, elapsed, log, state: readiness, reconcile: reconcileOnce },
    describeStop: () => new PodwireError('AGENT_NOT_READY', 'the agent is stopping'),
    onReport(report) {
      metrics.reconciled(report.duration, report.changes);
      logReport(log, report);
    },
    onFailure(error, duration) {
      readiness.problem = describeObstacle(error);
      metrics.reconciled(duration, undefined);
    },
  });
}

/** Describes an obstacle; a part that is not ready does so in its own words. */
function describeObstacle(error: unknown): string {
  const isOwn = error instanceof PodwireError && notReady.has(error.code);
  return isOwn ? describeError(error) : `the node could not be reconciled: ${describeError(error)}`;
}

const notReady: ReadonlySet<string> = new Set(['AGENT_NOT_READY', 'NODE_NAME_TAKEN']);

function logReport(log: Log, report: ReconcileReport): void {
  const { changes, removed, failures, duration } = report;
  const facts = {
    ms: Math.round(duration * 10) / 10,
    changes: changes.length,
    removed: removed.length,
    failures,
  };
  if (failures.length > 0) log.error(facts, 'reconciled with failures');
  else if (changes.length + removed.length > 0) log.info(facts, 'reconciled');
  else log.debug(facts, 'reconciled');
  for (const { owner, pod, action, what, gap, error } of changes)
    log.info({ owner, pod, action, what, gap, err: error }, 'changed');
}
