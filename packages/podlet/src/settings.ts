import type { BackOffRule } from './lifecycle/back-off.js';

/** Intervals and limits of the loop: specification §1.3 to §1.5. Milliseconds. */
export interface LoopSettings {
  /** Between two listings of everything, without and with a stream of events that works. */
  readonly relistMs: number;
  readonly relistWithEventsMs: number;
  /** A listing that is older makes the loop stand still. */
  readonly relistDeadMs: number;
  readonly statusMs: number;
  readonly statusDeadMs: number;
  readonly syncMs: number;
  readonly housekeepingMs: number;
  readonly garbageMs: number;
  /** Between two looks at the size of logs. */
  readonly logRotationMs: number;
  /** A pod that is in order is looked at again after this long. */
  readonly resyncMs: number;
  readonly retryMs: number;
  readonly networkRetryMs: number;
  readonly restartBackOff: BackOffRule;
  readonly imageBackOff: BackOffRule;
  /** RunPodSandbox calls at once: more of them only make each other slow. */
  readonly concurrentSandboxes: number;
  /** Status calls at once after a listing. */
  readonly concurrentStatus: number;
  readonly runSandboxTimeoutMs: number;
  readonly callTimeoutMs: number;
}

export const defaultSettings: LoopSettings = {
  relistMs: 1_000,
  relistWithEventsMs: 10_000,
  relistDeadMs: 180_000,
  statusMs: 5_000,
  statusDeadMs: 30_000,
  syncMs: 1_000,
  housekeepingMs: 2_000,
  garbageMs: 60_000,
  logRotationMs: 10_000,
  resyncMs: 60_000,
  retryMs: 10_000,
  networkRetryMs: 1_000,
  restartBackOff: { initial: 10_000, max: 300_000 },
  imageBackOff: { initial: 10_000, max: 300_000 },
  concurrentSandboxes: 64,
  concurrentStatus: 16,
  runSandboxTimeoutMs: 240_000,
  callTimeoutMs: 120_000,
};
