import { roleOf } from '../lifecycle/container-plan.js';
import { newestInstance, type ObservedContainer } from '../lifecycle/observed.js';
import type { InitPollContext } from './sync-context.js';

/**
 * Init containers are mostly over in a moment, and the pod cannot be reached before. Without events of the runtime their
 * end would be found by the next listing only, so a running one is looked at after 50 ms, 100 ms … until listings are as often.
 */

/** Half of the first pause: the sync right after the start doubles it. */
const firstPause = 25;

/** @returns milliseconds; Infinity when there is nothing to look at */
export function pollPause(context: InitPollContext): number {
  const { worker, settings } = context;
  const running = findRunningInit(context);
  if (running === undefined) return Infinity;
  if (worker.initPoll?.id !== running.id) worker.initPoll = { id: running.id, pause: firstPause };
  return worker.initPoll.pause < settings.relistMs ? worker.initPoll.pause : Infinity;
}

export async function pollInit(context: InitPollContext): Promise<void> {
  const { worker, view, settings, signal } = context;
  const running = findRunningInit(context);
  const poll = worker.initPoll;
  if (running === undefined || poll?.id !== running.id || poll.pause >= settings.relistMs) return;
  worker.initPoll = { id: poll.id, pause: poll.pause * 2 };
  await view.refreshContainer(running.id, running.sandboxId, signal).catch(() => undefined);
}

function findRunningInit({ worker, view }: InitPollContext): ObservedContainer | undefined {
  const observed = view.observed(worker.uid);
  for (const container of worker.pod.spec.initContainers) {
    const newest = newestInstance(observed, container.name);
    if (newest?.state === 'running' && roleOf(container, true) === 'init') return newest;
  }
  return undefined;
}
