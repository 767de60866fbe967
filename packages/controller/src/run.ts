/** A controller as a process of its own. */
import { keysBelow } from '@podwire/cluster-state';
import type { Clock, Log } from '@podwire/platform';
import { openStore, type StoreSpec } from '@podwire/store';
import { type Controller, type ControllerOptions, createController } from './controller.js';

export interface RunOptions extends Omit<ControllerOptions, 'store' | 'keys'> {
  readonly store: StoreSpec;
  /** What all keys begin with: `/podwire`. */
  readonly root: string;
  /** Called before it begins, for whoever wants to see its metrics. */
  readonly onStart?: (controller: Controller) => void | Promise<void>;
}

/** Runs until the signal aborts. @throws PodwireError CONFIG_INVALID, STORE_DENIED, STORE_UNAVAILABLE */
export async function runController(
  { store: spec, root, onStart, ...options }: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock }: { log: Log; clock: Clock } = options;
  const store = await openStore(spec, { log, clock });
  try {
    const controller = createController({ ...options, store, keys: keysBelow(root) });
    await onStart?.(controller);
    await controller.run(signal);
  } finally {
    await store.close();
  }
}
