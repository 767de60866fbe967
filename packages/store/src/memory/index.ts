/** A store in memory, for tests and simulations: several clients on one server, with faults where they are wanted. */
import { type Clock, systemClock } from '@podwire/platform';
import type { Revision, StoreLimits } from '../contract.js';
import { MemoryClient, type MemoryStore } from './client.js';
import { MemoryCore } from './core.js';
import type { MemoryFaults } from './faults.js';

export type { MemoryStore } from './client.js';
export { type Fault, type MemoryCall, type MemoryFaults, type Operation, randomFaults } from './faults.js';

export interface MemoryServerOptions {
  /** For leases and latencies. The machine's by default. */
  readonly clock?: Clock;
  /** Transactions after which a watch can resume. 10,000 by default. */
  readonly history?: number;
  /** As etcd's by default. */
  readonly limits?: Partial<StoreLimits>;
}

export interface MemoryServer {
  /** @param faults is read at each call, and may be changed */
  connect(faults?: MemoryFaults): MemoryStore;
  /** Forgets the past: watches that come back from it begin with a snapshot. */
  compact(): void;
  /** Ends leases that are over by the clock; needed only where the clock's sleepers are not woken. */
  tick(): void;
  readonly revision: Revision;
  /** Items. */
  readonly size: number;
}

export function createMemoryServer({
  clock = systemClock,
  history = 10_000,
  limits: given = {},
}: MemoryServerOptions = {}): MemoryServer {
  const core = new MemoryCore(clock, history);
  const limits: StoreLimits = { operations: 128, valueBytes: 1_048_576, ...given };
  let clients = 0;
  return {
    connect: (faults = {}) => {
      clients++;
      core.wake();
      const onClose = (): void => {
        // A lease's timer does not keep the process alive.
        if (--clients === 0) core.rest();
      };
      return new MemoryClient({ core, clock, limits, faults, onClose });
    },
    compact: () => core.compact(),
    tick: () => core.tick(),
    get revision() {
      return core.revision;
    },
    get size() {
      return core.size;
    },
  };
}

/** One client on a server of its own. */
export const createMemoryStore = (options: MemoryServerOptions = {}): MemoryStore =>
  createMemoryServer(options).connect();
