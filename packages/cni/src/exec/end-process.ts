import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;
/** How long the kernel may take to reap what got SIGKILL; a process stuck in a system call can take for ever. */
const REAP_MS = 1000;

/**
 * Ends a process, or with a negative number the group of that id: SIGTERM, then SIGKILL after `graceMs` to what is left.
 * Resolves when nothing is left, or when even SIGKILL did not end it within a second. Killing a direct child alone
 * would leave the plugins it delegated to, holding their locks.
 */
export async function endProcess(target: number, graceMs: number): Promise<void> {
  if (!send(target, 'SIGTERM')) return;
  if (await isGoneWithin(target, graceMs)) return;
  if (!send(target, 'SIGKILL')) return;
  await isGoneWithin(target, REAP_MS);
}

async function isGoneWithin(target: number, milliseconds: number): Promise<boolean> {
  for (let waited = 0; waited < milliseconds; waited += POLL_MS) {
    if (!send(target, 0)) return true;
    await sleep(POLL_MS);
  }
  return !send(target, 0);
}

/** False when nothing is left. A process that may not be signalled (EPERM) is one that is left. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
