/** Ends of the engine at points of its own choice. */
import assert from 'node:assert/strict';
import type { FaultPoints } from '@podwire/engine';
import { crashAt } from '@podwire/engine/compliance';

export { crashAt };

export async function ignoringCrash(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) =>
    assert.match(String(error), /Crash|apply:|remove:|remove-links:|deferred:|repair:|prune:|reconcile:/),
  );
}

export async function pointsOf(work: (faults: FaultPoints) => Promise<unknown>): Promise<string[]> {
  const recorder = crashAt(undefined);
  await work(recorder);
  return recorder.seen;
}
