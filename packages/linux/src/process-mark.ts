/** Identifies a process beyond its id, which the kernel uses again. */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '@podwire/platform';

export interface ProcessMark {
  readonly what: string;
  readonly pid: number;
  /** Clock ticks since boot (proc(5), stat field 22). */
  readonly startTime: string;
}

export function markProcess(what: string, pid: number): ProcessMark {
  return { what, pid, startTime: readStartTime(pid) ?? 'ended' };
}

export function isAlive({ pid, startTime }: ProcessMark): boolean {
  return readStartTime(pid) === startTime;
}

/**
 * When the process of this number started: clock ticks since boot. Undefined when there is none, or one that has ended and was
 * not waited for yet (a zombie).
 * @throws the error of reading /proc
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    return readStat(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/**
 * The start time (proc(5), field 22) of a process that has not ended. One whose first thread is a zombie has others that still end (field 20),
 * and holds its files and their locks until then. Pure.
 */
export function readStat(stat: string): string | undefined {
  // The name in parentheses may hold anything; the fields after it count from state, the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, start] = [fields[0], Number(fields[17]), fields[19]];
  return state === 'X' || (state === 'Z' && threads <= 1) ? undefined : start;
}

/** One that cannot be read counts as ended. */
function readStartTime(pid: number): string | undefined {
  try {
    return startTimeOf(pid);
  } catch {
    return undefined;
  }
}

/** Milliseconds that processes get to end by themselves. */
const grace = 5_000;
const pause = 10;

/** SIGTERM, then SIGKILL (`now`: at once); resolves when all have ended. */
export async function endProcesses(processes: readonly ProcessMark[], { now = false } = {}): Promise<void> {
  const end = performance.now() + (now ? 0 : grace);
  for (const each of processes) sendSignal(each, now ? 'SIGKILL' : 'SIGTERM');
  while (processes.some(isAlive)) {
    if (performance.now() > end) for (const each of processes) sendSignal(each, 'SIGKILL');
    await sleep(pause);
  }
}

function sendSignal(target: ProcessMark, signal: NodeJS.Signals): void {
  try {
    if (isAlive(target)) process.kill(target.pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
