import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;
/** How long the kernel may take to end what got SIGKILL; a process stuck in a system call can take for ever. */
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
  const end = performance.now() + milliseconds;
  while (isAlive(target)) {
    if (performance.now() >= end) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** False when nothing is left. A process that may not be signalled (EPERM) is one that is left. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Signal 0 also finds zombies, and orphans stay zombies until the init process gets round to them; they hold nothing
 * any more. So for a group its members' states are looked up, the leader's first: all others have to be searched for.
 * Without /proc the answer of signal 0 has to do.
 */
function isAlive(target: number): boolean {
  if (!send(target, 0)) return false;
  try {
    return (
      target > 0 ||
      isLivingMember(String(-target), -target) ||
      fs.readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, -target))
    );
  } catch {
    return true;
  }
}

/** Fields of proc(5) `stat` behind the name, which may hold anything: state, parent, process group. */
function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && state !== 'Z' && state !== 'X';
  } catch {
    // Gone between listing and reading.
    return false;
  }
}
