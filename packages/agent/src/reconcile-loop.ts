/** When the node is reconciled: soon again until it is in order, then every while, and when somebody asks. */
import { describeError, PodwireError } from '@podwire/errors';
import { Semaphore } from '@podwire/platform';
import type { EndpointContext } from './endpoints/context.js';
import type { Metrics } from './metrics.js';
import { reconcile, type ReconcileReport } from './reconcile.js';

export interface ReconcileLoop {
  /**
   * Reconciles now; two of them never run side by side. Until the agent is ready for the first time the node is held
   * for it alone, then requests are served meanwhile. @throws what made it impossible
   */
  run(): Promise<ReconcileReport>;
  /** Begins the first round, and so takes its place in the queue for the node before this call returns. */
  start(): void;
  /** Something has changed that only a reconcile can follow: a round begins now, or right after the one that is under way. */
  nudge(): void;
  /** Ends the rounds, gives up one that is under way, and resolves when it has ended. */
  stop(): Promise<void>;
  /** Resolves with the first round that leaves the node in order; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly last: ReconcileReport | undefined;
}

export interface ReconcileLoopOptions {
  readonly context: EndpointContext;
  readonly metrics: Metrics;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Milliseconds between rounds. */
  readonly interval: number;
  /** Milliseconds for one round. */
  readonly deadline: number;
}

/** Milliseconds until the next attempt while the agent is not ready, or could not reconcile: doubling up to the last one. */
const firstRetry = 500;
const lastRetry = 30_000;

export function createReconcileLoop(options: ReconcileLoopOptions): ReconcileLoop {
  const { context, metrics, elapsed, interval, deadline } = options;
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let retry = firstRetry;
  let last: ReconcileReport | undefined;
  let current: Promise<void> = Promise.resolve();
  let isStarted = false;
  let isRunning = false;
  let isDue = false;
  let isRecovered = false;
  const rounds = new Semaphore(1);
  let becomeReady = (): void => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    stopped.signal.addEventListener('abort', () => reject(stopped.signal.reason as Error), { once: true });
  });
  // Whoever does not ask need not hear of it.
  ready.catch(() => undefined);

  async function run(): Promise<ReconcileReport> {
    const begin = elapsed();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooLate(deadline)), deadline);
    const signal = AbortSignal.any([stopped.signal, late.signal]);
    try {
      last = await rounds.run(() => reconcileOnce(signal), signal);
      metrics.reconciled(last.duration, last.changes);
      logReport(context, last);
      return last;
    } catch (error) {
      context.readiness.problem = describeObstacle(error);
      metrics.reconciled(elapsed() - begin, undefined);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function reconcileOnce(signal: AbortSignal): Promise<ReconcileReport> {
    if (isRecovered) return reconcile(context, { signal, elapsed, alone: false });
    // Readiness changes while the node is still held: a request that waits for it must find the agent ready.
    const report = await context.locks.withAll(signal, () =>
      reconcile(context, { signal, elapsed, alone: true }),
    );
    if (context.readiness.ready) {
      isRecovered = true;
      becomeReady();
    }
    return report;
  }

  function schedule(): void {
    if (stopped.signal.aborted) return;
    const { ready: isReady, problem } = context.readiness;
    const isInOrder = isReady && problem === undefined;
    const soon = isReady ? Math.min(retry, interval) : retry;
    timer = setTimeout(begin, isInOrder ? interval : soon);
    retry = isInOrder ? firstRetry : Math.min(retry * 2, lastRetry);
  }

  async function round(): Promise<void> {
    isRunning = true;
    isDue = false;
    try {
      await run();
    } catch (err) {
      if (!stopped.signal.aborted) context.log.error({ err }, 'reconcile failed');
    }
    isRunning = false;
    if (isDue && !stopped.signal.aborted) begin();
    else schedule();
  }

  function begin(): void {
    current = round();
  }

  return {
    run,
    ready,
    start() {
      isStarted = true;
      begin();
    },
    nudge() {
      isDue = true;
      // The first round finds whatever has changed before it; one beside it would be followed by rounds of its own for ever.
      if (!isStarted || isRunning || stopped.signal.aborted) return;
      clearTimeout(timer);
      begin();
    },
    async stop() {
      clearTimeout(timer);
      stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
      await current;
    },
    get last() {
      return last;
    },
  };
}

/** What is not ready says so in its own words. */
function describeObstacle(error: unknown): string {
  const isOwn = error instanceof PodwireError && notReady.has(error.code);
  return isOwn ? describeError(error) : `the node could not be reconciled: ${describeError(error)}`;
}

const notReady: ReadonlySet<string> = new Set(['AGENT_NOT_READY', 'NODE_NAME_TAKEN']);

const tooLate = (deadline: number): PodwireError =>
  new PodwireError('DEADLINE_EXCEEDED', `it took longer than ${deadline} ms`);

function logReport({ log }: EndpointContext, report: ReconcileReport): void {
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
  for (const { owner, action, what, error } of changes)
    log.info({ owner, action, what, err: error }, 'changed');
}
