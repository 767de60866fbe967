/** Ends of the engine at points of its own choice. */
import assert from 'node:assert/strict';
import type { FaultPoints } from '@podwire/engine';

class Crash extends Error {}

/**
 * Stands for `kill -9`: from the chosen point on, nothing the engine wants to do happens any more. A point that is reached again
 * is another one: `repair:add:route (2)`.
 */
export function crashAt(target: string | undefined): FaultPoints & { seen: string[] } {
  const seen: string[] = [];
  const times = new Map<string, number>();
  let crashed = false;
  return {
    seen,
    reach(point) {
      const time = (times.get(point) ?? 0) + 1;
      times.set(point, time);
      const name = time === 1 ? point : `${point} (${time})`;
      seen.push(name);
      crashed ||= name === target;
      if (crashed) throw new Crash(point);
    },
  };
}

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
