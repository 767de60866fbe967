import { isAlive, newestInstance, type ObservedPod } from '../lifecycle/observed.js';
import type { WorkerState } from './worker-state.js';

/** They start at once: how often they have failed before does not count. */
export function askForRestart(state: WorkerState, observed: ObservedPod, names: readonly string[]): void {
  // Of earlier calls.
  state.restartAsked.clear();
  for (const name of names) {
    const newest = newestInstance(observed, name);
    if (newest !== undefined && isAlive(newest)) state.restartAsked.add(newest.id);
    state.interrupted.add(name);
    state.restarts.forget(name);
  }
}
