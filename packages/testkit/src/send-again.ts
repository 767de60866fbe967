import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds until a test gives up on an answer that must come. Only a path that is really closed takes so long, and
 * no load of the machine does.
 */
export const generous = 30_000;

const firstWait = 250;

/**
 * Makes attempts until one has something, or until the time is over. An attempt is told how long it may wait and how
 * much time is left. The waits double: a lost packet costs little, and an answer that a busy machine delays comes in
 * time for one of them.
 */
export async function sendAgain<T>(
  timeout: number,
  attempt: (wait: number, left: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = performance.now() + timeout;
  for (let wait = firstWait; ; wait *= 2) {
    const left = Math.max(1, end - performance.now());
    const turn = performance.now() + Math.min(wait, left);
    const found = await attempt(Math.min(wait, left), left);
    if (found !== undefined || performance.now() >= end) return found;
    // A router's refusal comes back at once.
    await sleep(Math.max(0, turn - performance.now()));
  }
}
