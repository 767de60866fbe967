import { collectable } from '../lifecycle/garbage.js';
import { pollInit } from './init-poll.js';
import { readLastWords } from './last-words.js';
import type { Step } from './step.js';
import { collectGarbage } from './stop-pod.js';
import { hasLife, syncPod, type SyncResult } from './sync-pod.js';
import { terminatePod } from './terminate-pod.js';

export type TurnResult = ({ readonly kind: 'stays' } & SyncResult) | { readonly kind: 'gone' };

/** What a worker does each time it is woken: sync → terminating → terminated, never backwards. */
export async function takeTurn(step: Step, collect: boolean): Promise<TurnResult> {
  const { worker } = step;
  noteWait(step);
  if (worker.kill !== undefined) {
    if (!worker.gone || hasAnything(step)) await terminatePod(step);
    return { kind: 'gone' };
  }
  await refreshStale(step);
  await pollInit(step);
  await readLastWords(step);
  if (!collect) return { kind: 'stays', ...(await syncUnlessOver(step)) };
  return { kind: 'stays', ...(await collectingAfter(step, () => syncUnlessOver(step))) };
}

/** Also after an error: where a network does not come up, every attempt may leave a dead sandbox. */
async function collectingAfter<T>(step: Step, work: () => Promise<T>): Promise<T> {
  const [outcome] = await Promise.allSettled([work()]);
  if (!step.signal.aborted) await collectRemains(step);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** Listings have no addresses: one that was taken away is only found by asking. What cannot be asked stays as it was. */
async function refreshStale({ worker, view, signal }: Step): Promise<void> {
  const newest = view.observed(worker.uid).sandboxes[0];
  if (worker.stale && newest?.ready === true)
    await view.refreshSandbox(newest.id, signal).catch(() => undefined);
  worker.stale = false;
}

/** A pod that has ended is looked at no more, unless something of it comes to life behind our back. */
async function syncUnlessOver(step: Step): Promise<SyncResult> {
  const { worker, view } = step;
  if (worker.stage === 'terminated' && !hasLife(view.observed(worker.uid))) {
    return { again: false, pause: Infinity };
  }
  return syncPod(step);
}

async function collectRemains(step: Step): Promise<void> {
  const { containers, sandboxes } = collectable(step.view.observed(step.worker.uid), true);
  if (containers.length + sandboxes.length > 0) await collectGarbage(step, true);
}

function hasAnything({ view, worker }: Step): boolean {
  const { sandboxes, containers } = view.observed(worker.uid);
  return sandboxes.length + containers.length > 0;
}

function noteWait({ worker }: Step): void {
  if (worker.arrivedAt !== undefined) worker.trace.past('wait for worker', worker.arrivedAt);
  worker.arrivedAt = undefined;
}
