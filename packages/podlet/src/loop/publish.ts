import type { PodEventType } from '../contract.js';
import type { Pool } from './pool-state.js';
import { updateStatus } from './show.js';
import type { WorkerState } from './worker-state.js';

/** Status and stage, when they have changed. */
export function show(pool: Pool, worker: WorkerState): void {
  if (updateStatus(worker, pool.dependencies)) publish(pool, worker);
}

export function publish(pool: Pool, state: WorkerState): void {
  if (!state.orphan) pool.sink.statusChanged(state.pod, state.status);
  pool.onChange(state);
}

export function tell(
  pool: Pool,
  worker: WorkerState,
  type: PodEventType,
  reason: string,
  message: string,
): void {
  const event = worker.events.add(type, reason, message, pool.dependencies.clock.now());
  if (!worker.orphan) pool.sink.event(worker.pod, event);
  pool.onChange(worker);
}
