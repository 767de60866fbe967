/** A batch whose bundle is with the switch before it may be made. */
import type { Batch, Resource } from '@podwire/engine';
import { carryOut } from './carry-out.js';
import type { BridgeLink } from './link.js';
import type { Step, StepFailure } from './plan.js';

export interface Ahead {
  readonly batch: Batch;
  /** Lets the switch make it. */
  commit(): Promise<readonly StepFailure<Resource>[]>;
  /** The switch discards it. */
  drop(): void;
}

export function sendAhead(
  link: BridgeLink,
  batch: Batch,
  steps: readonly Step<Resource>[],
  signal: AbortSignal,
): Ahead {
  let allow = (): void => undefined;
  let refuse = (_: Error): void => undefined;
  const hold = new Promise<void>((resolve, reject) => ([allow, refuse] = [resolve, reject]));
  const outcome = carryOut(link, steps, { signal, waits: true, hold });
  for (const each of [hold, outcome]) each.catch(() => undefined);
  return {
    batch,
    commit() {
      allow();
      return outcome;
    },
    drop: () => refuse(new Error('it did not come to that')),
  };
}
