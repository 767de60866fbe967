import { performance } from 'node:perf_hooks';
import { type FaultPoints, noFaults } from '@podwire/platform';
import { applyResources } from './apply.js';
import type { EngineContext } from './call.js';
import type { Backend } from './contract.js';
import { DeferredQueue } from './deferred.js';
import type { Engine } from './engine.js';
import { exchangeResources } from './exchange.js';
import { reconcileNode, ReconcileRound } from './reconcile.js';
import { createKindRegistry } from './registry.js';
import { removeResources } from './remove.js';
import { findDrift } from './verify.js';

export interface EngineOptions {
  /** Closed with the engine. Leftovers are pruned from the last one to the first. */
  readonly backends: readonly Backend[];
  /** Where tests end the process. */
  readonly faults?: FaultPoints;
  /** Every resource travels alone; for fault tests. */
  readonly single?: boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Told of failures outside a call: those of deferred deletions. */
  readonly onError?: (message: string) => void;
}

/** The only writer of the system. See {@link Engine}. @throws RangeError when two kinds have one name */
export function createEngine(options: EngineOptions): Engine {
  const context = createContext(options);
  const { backends, kinds } = context;
  const queues = [...context.queues.values()];
  return {
    kinds,
    async apply(owned, call) {
      for (const queue of queues) queue.noteActivity();
      await applyResources(context, owned, call);
    },
    async remove(owned, call) {
      for (const queue of queues) queue.noteActivity();
      await removeResources(context, owned, call);
    },
    async exchange(owner, change, call) {
      for (const queue of queues) queue.noteActivity();
      await exchangeResources(context, owner, change, call);
    },
    verify: async (owned) => findDrift(context, owned),
    reconcile: async (desired, call) => reconcileNode(context, desired, call),
    startReconcile: (wanted) => new ReconcileRound(context, wanted),
    async settle() {
      for (const queue of queues) await queue.settle();
    },
    async close() {
      try {
        for (const queue of queues) await queue.close();
      } finally {
        for (const backend of backends.values()) backend.close();
      }
    },
  };
}

function createContext({
  backends,
  faults = noFaults,
  single = false,
  now = () => performance.now(),
  onError = () => undefined,
}: EngineOptions): EngineContext {
  const queues = backends.flatMap(({ name, deferred: deletion }) =>
    deletion === undefined ? [] : [[name, new DeferredQueue({ deletion, faults, now, onError })] as const],
  );
  return {
    backends: new Map(backends.map((backend) => [backend.name, backend])),
    kinds: createKindRegistry(backends.flatMap(({ kinds }) => kinds)),
    queues: new Map(queues),
    faults,
    now,
    single,
  };
}
