import { hasCode } from '@podwire/linux';
import { deleteLinkGroup } from '@podwire/netlink';
import { describeError } from '@podwire/errors';
import type { EngineContext } from './context.js';
import { DOOMED_GROUP } from './marks.js';

/**
 * Deletes doomed links in batches, moments after they were taken off the network. A link's death costs the kernel a
 * grace period of some 20 ms; sixty that die together pay it once. The request blocks a pool thread, not the caller.
 */
export interface LinkReaper {
  /** There are doomed links: delete them soon. */
  schedule(): void;
  /** Deletes them now and resolves when they are gone. */
  settle(): Promise<void>;
}

/** How long to collect, in milliseconds. Long enough for a burst of DELs to share one grace period. */
const COLLECT = 50;
const DEADLINE = 10_000;

export function createLinkReaper(context: EngineContext, onError: (message: string) => void): LinkReaper {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const settle = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    running = running.then(async () => reap(context));
    const mine = running;
    running = running.catch(() => undefined);
    await mine;
  };
  const settleLater = (): void => {
    settle().catch((error: unknown) => onError(`cannot delete doomed links: ${describeError(error)}`));
  };
  return {
    schedule: () => void (timer ??= setTimeout(settleLater, COLLECT)),
    settle,
  };
}

async function reap(context: EngineContext): Promise<void> {
  context.faults.reach('reap:begin');
  try {
    const request = deleteLinkGroup(DOOMED_GROUP);
    await context.kernel.background.requestAsync([request], AbortSignal.timeout(DEADLINE));
  } catch (error) {
    if (!hasCode(error, 'ENODEV')) throw error; // nobody is left: their namespaces died first
  }
  context.faults.reach('reap:end');
}
