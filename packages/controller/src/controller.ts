/** A candidate for the leadership of the cluster's controllers, and the leader once it is elected. */
import { type Keys, keysBelow } from '@podwire/cluster-state';
import type { Clock, Log } from '@podwire/platform';
import { electLeader, type Lock, openStore, type Store, type StoreSpec } from '@podwire/store';
import { type ControllerMetrics, createCounters } from './metrics.js';
import { Term } from './term.js';

export interface ControllerOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  /** The holder's name in the lock: `NODE/PID`. */
  readonly name: string;
  /** Milliseconds after which a leader that died is replaced. 15 s by default. */
  readonly ttl?: number;
  /** Milliseconds after which the blocks of an unreachable node are released, unless the node's object says more. 24 h by default. */
  readonly evictionTimeout?: number;
  /** Milliseconds for which a problem must persist before garbage collection repairs it. 15 min by default. */
  readonly grace?: number;
}

const controllerDefaults = { ttl: 15_000, evictionTimeout: 24 * 3_600_000, grace: 15 * 60_000 } as const;

export interface Controller {
  /**
   * Campaigns for the leadership, and leads, until the signal aborts.
   * @throws PodwireError STORE_DENIED, which waiting does not solve
   */
  run(signal: AbortSignal): Promise<void>;
  metrics(): ControllerMetrics;
  /** Of VNIDs and subnets of OpenShift SDN, for a status; each begins with a code. Empty while it does not lead. */
  problems(): readonly string[];
}

export function createController(options: ControllerOptions): Controller {
  const { store, keys, clock, log, name } = options;
  const { ttl, evictionTimeout, grace } = { ...controllerDefaults, ...options };
  const counters = createCounters();
  let term: Term | undefined;

  async function lead({ fence, lost }: Lock): Promise<void> {
    const guard = [{ key: keys.leader, expect: fence }];
    const own = new Term({ access: { store, keys, clock, guard }, log, evictionTimeout, grace, counters });
    counters.terms++;
    term = own;
    try {
      await own.run(lost);
    } finally {
      if (term === own) term = undefined;
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
      sdnProblems: term?.problems.length ?? 0,
    }),
    problems: () => term?.problems ?? [],
  };
}

export interface RunOptions extends Omit<ControllerOptions, 'store' | 'keys'> {
  readonly store: StoreSpec;
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
  /** Called before it runs, to publish its metrics. */
  readonly onStart?: (controller: Controller) => void | Promise<void>;
}

/** A controller as a process of its own, until the signal aborts. @throws PodwireError CONFIG_INVALID, STORE_DENIED, STORE_UNAVAILABLE */
export async function runController(
  { store: spec, root, onStart, ...options }: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock } = options;
  const store = await openStore(spec, { log, clock });
  try {
    const controller = createController({ ...options, store, keys: keysBelow(root) });
    await onStart?.(controller);
    await controller.run(signal);
  } finally {
    await store.close();
  }
}
