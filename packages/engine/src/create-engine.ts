import { performance } from 'node:perf_hooks';
import { type FaultPoints, noFaults } from '@podwire/platform';
import { type EngineContext, forCall } from './call.js';
import { changeResources } from './change.js';
import type { Backend } from './contract.js';
import { DeferredQueue } from './deferred.js';
import type { CallOptions, ChangeSet, Engine, Owner } from './engine.js';
import { reconcileNode, ReconcileRound } from './reconcile.js';
import { createKindRegistry } from './registry.js';
import { findDrift } from './verify.js';

export interface EngineOptions {
  /** Closed with the engine. Leftovers are pruned from the last one to the first. */
  readonly backends: readonly Backend[];
  /** Where tests end the process. */
  readonly faults?: FaultPoints;
  /** Every resource travels alone; for fault tests. */
  readonly single?: boolean;
  /** Milliseconds that a backend may take for one call of a session; 15 s when absent. */
  readonly callDeadline?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Is given failures outside a call: those of deferred deletions. */
  readonly onError?: (message: string) => void;
}

/** The only writer of the system. See {@link Engine}. @throws RangeError when two kinds have one name */
export function createEngine(options: EngineOptions): Engine {
  const context = createContext(options);
  const { backends, kinds } = context;
  const queues = [...context.queues.values()];
  const change = async (owner: Owner, set: ChangeSet, call: CallOptions): Promise<void> => {
    for (const queue of queues) queue.noteActivity();
    await changeResources(forCall(context), owner, set, call);
  };
  return {
    kinds,
    change,
    apply: async ({ resources: add, ...owner }, call) => change(owner, { add }, call),
    remove: async ({ resources: remove, ...owner }, call) => change(owner, { remove }, call),
    verify: async (owned, call) => findDrift(forCall(context), owned, call),
    reconcile: async (desired, call) => reconcileNode(forCall(context), desired, call),
    startReconcile: (wanted) => new ReconcileRound(forCall(context), wanted),
    abandonedCalls: () => new Map(context.limits.abandoned),
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
  callDeadline: deadline = 15_000,
  now = () => performance.now(),
  onError = () => undefined,
}: EngineOptions): EngineContext {
  const abandoned = new Map(backends.map(({ name }) => [name, 0]));
  const queues = backends.flatMap(({ name, deferred: deletion }) => {
    const options = { name, deletion, deadline, abandoned, faults, now, onError };
    return deletion === undefined ? [] : [[name, new DeferredQueue({ ...options, deletion })] as const];
  });
  return {
    backends: new Map(backends.map((backend) => [backend.name, backend])),
    kinds: createKindRegistry(backends.flatMap(({ kinds }) => kinds)),
    queues: new Map(queues),
    faults,
    now,
    single,
    limits: { deadline, abandoned, silent: new Map() },
  };
}
