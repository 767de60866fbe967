/** A candidate for the leadership of the cluster, and the leader when it is elected. */
import type { Keys } from '@podwire/cluster-state';
import type { Clock, Log } from '@podwire/platform';
import { electLeader, type Lock, type Store } from '@podwire/store';
import { type ControllerMetrics, createCounters } from './metrics.js';
import { createTerm, type Term } from './term.js';

export interface ControllerOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  /** Who it is, for people: `NODE/PID`. */
  readonly name: string;
  /** Milliseconds after which a leader that died is succeeded. 15 s by default. */
  readonly ttl?: number;
  /** Milliseconds of absence after which what a node had is given to others, unless the node itself says more. 24 h by default. */
  readonly vanishAfter?: number;
  /** Milliseconds for which something must be wrong before garbage collection mends it. 15 min by default. */
  readonly grace?: number;
}

const controllerDefaults = { ttl: 15_000, vanishAfter: 24 * 3_600_000, grace: 15 * 60_000 } as const;

export interface Controller {
  /**
   * Seeks to lead, and leads, until the signal aborts.
   * @throws PodwireError STORE_DENIED: what no waiting helps against
   */
  run(signal: AbortSignal): Promise<void>;
  metrics(): ControllerMetrics;
}

export function createController(options: ControllerOptions): Controller {
  const { store, keys, clock, log, name } = options;
  const { ttl, vanishAfter, grace } = { ...controllerDefaults, ...options };
  const counters = createCounters();
  let term: Term | undefined;

  async function lead({ fence, lost }: Lock): Promise<void> {
    const guard = [{ key: keys.leader, expect: fence }];
    const mine = createTerm({ access: { store, keys, clock, guard }, log, vanishAfter, grace, counters });
    counters.terms++;
    term = mine;
    try {
      await mine.run(lost);
    } finally {
      if (term === mine) term = undefined;
    }
  }

  return {
    run: (signal) => electLeader({ store, key: keys.leader, holder: name, ttl, clock, log, lead }, signal),
    metrics: () => ({
      ...counters,
      leading: term !== undefined,
      absentNodes: term?.absentNodes ?? 0,
      candidates: term?.candidates ?? 0,
      lastCollection: term?.lastCollection ?? 0,
    }),
  };
}
