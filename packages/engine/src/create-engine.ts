import { performance } from 'node:perf_hooks';
import { applyResources } from './apply.js';
import { listLinks } from '@podwire/netlink';
import type { EngineContext } from './context.js';
import { adoptDoomed } from './doom.js';
import { type Engine, type FaultPoints, noFaults } from './engine.js';
import type { Kernel } from './kernel.js';
import { createLinkReaper } from './reaper.js';
import { reconcileHost } from './reconcile.js';
import { removeResources } from './remove.js';
import { findDrift } from './verify.js';

export interface EngineOptions {
  /** Closed with the engine. */
  readonly kernel: Kernel;
  /** Where tests end the process. */
  readonly faults?: FaultPoints;
  /** Every resource travels alone; for fault tests. */
  readonly single?: boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Told what goes wrong when nobody waits for it: the late deletion of links. */
  readonly onError?: (message: string) => void;
}

/** The only writer of the system. See {@link Engine}. */
export function createEngine(options: EngineOptions): Engine {
  const context: EngineContext = {
    kernel: options.kernel,
    faults: options.faults ?? noFaults,
    now: options.now ?? (() => performance.now()),
    single: options.single ?? false,
  };
  const reaper = createLinkReaper(context, options.onError ?? (() => undefined));
  return {
    apply: async (owned, call) => {
      reaper.noteActivity();
      await applyResources(context, reaper, owned, call);
    },
    remove: async (owned, call) => {
      reaper.noteActivity();
      await removeResources(context, reaper, owned, call);
    },
    verify: async (owned) => Promise.resolve(findDrift(context, owned)),
    reconcile: async (desired, call) => reconcileHost(context, reaper, desired, call),
    async settle() {
      adoptDoomed(reaper, listLinks(context.kernel.host.route));
      await reaper.settle();
    },
    async close() {
      await reaper.close().finally(() => context.kernel.close());
    },
  };
}
