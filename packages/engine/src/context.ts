import type { FaultPoints } from './engine.js';
import type { Kernel } from './kernel.js';

/** What every operation of the engine is given: the system, the tests' fault points and a monotonic clock. */
export interface EngineContext {
  readonly kernel: Kernel;
  readonly faults: FaultPoints;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Every resource travels alone, so that a fault test can die between any two. */
  readonly single: boolean;
}
