/** Work that is long in large clusters, cut so that an agent which does it serves its pods in between. */
import { setImmediate as turn } from 'node:timers/promises';

/** Steps of which hundreds take a few milliseconds. */
const stepsPerTurn = 500;

export async function inTurns<T>(steps: Iterable<T>, take: (step: T) => void): Promise<void> {
  let count = 0;
  for (const step of steps) {
    take(step);
    if (++count % stepsPerTurn === 0) await turn();
  }
}
